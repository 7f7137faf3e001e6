/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups of Slurm on which the limits of proxies are set with version 2.
 */
#ifndef CGROUP_V2_H
#define CGROUP_V2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "modeswitch/error.h"

struct ms_job;

/* Does what ms_limits_step() says of version 2. 0 or -1. */
int cgroup_v2_limit(const struct ms_job *job, pid_t pid, bool is_step, struct ms_error *err);

/* Reads a file of the cgroup of the tasks of the step that 'pid' belongs to. 0 or -1. */
int cgroup_v2_read(uint32_t job_id, pid_t pid, const char *file, char *text, size_t size);

#endif
