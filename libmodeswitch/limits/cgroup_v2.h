/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups of Slurm on which the limits of proxies are set with version 2.
 */
#ifndef CGROUP_V2_H
#define CGROUP_V2_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads a file of the cgroup of the tasks of the step that 'pid' belongs to. 0 or -1. */
int cgroup_v2_read(uint32_t job_id, pid_t pid, const char *file, char *text, size_t size);

#endif
