/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the processes that run now on some CPUs and NUMA nodes, by a cpuset.
 */
#ifndef PREPARE_CPUSET_H
#define PREPARE_CPUSET_H

#include <stddef.h>

#include "modeswitch/error.h"

/* The mount point of the hierarchy with cpusets, in 'path'; NULL when there is none. */
const char *cpusets_base(char *path, size_t size);

/*
 * Makes the cpuset in that hierarchy and moves processes there; adds to *changed how many. Slurm's
 * daemons, jobs, and what the administrator starts from a shell stay where they are. 0 or -1.
 */
int keep_by_cpuset(const char *base, const char *cpus, const char *nodes, unsigned *changed,
		   struct ms_error *err);

/* Removes the cpuset, whether it is there or not; its processes go to the root. 0 or -1. */
int release_cpuset(struct ms_error *err);

#endif
