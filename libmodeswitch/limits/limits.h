/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits the proxies of a job by cgroups.
 *
 * With version 2 the limits are set on the cgroups that Slurm has made (ms_limits_step()), because
 * there is one hierarchy, and Slurm would lose a process that leaves its cgroup.
 *
 * With version 1 the library makes a cgroup slurm-lwk/job_ID in each hierarchy that limits
 * something, and lwkpart.ko moves proxies into it; with another driver ms_limits_step() moves the
 * tasks, which are the proxies. Slurm still finds its processes by its freezer, which they do not
 * leave. Jobs that share the OS CPUs are below slurm-lwk/shared, which limits their CPU time
 * together; among themselves they have equal weights. This needs libcgroup.
 */
#ifndef LIMITS_H
#define LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modeswitch/error.h"
#include "modeswitch/limits.h"

#define LIMITS_MAX_GROUPS 4

/* Names the controllers that this node lacks: "memory, pids"; "" when it has all. */
void limits_find_missing(char *missing, size_t size);

/* True when this node has cgroup version 1, for which this build lacks libcgroup. */
bool limits_want_libcgroup(void);

/*
 * Makes the job's cgroups of version 1; with version 2 it only looks for the controllers. A
 * controller that this node lacks is an error if limits->required. 0 or -1.
 */
int limits_make(uint32_t job_id, const struct ms_limits *limits, struct ms_error *err);

/*
 * Opens the files cgroup.procs of these cgroups, which put a process there. The number of file
 * descriptors, which the caller closes, or -1.
 */
int limits_open(uint32_t job_id, const struct ms_limits *limits, int fds[LIMITS_MAX_GROUPS],
		struct ms_error *err);

/* Removes these cgroups if there are any; processes left in them go to the parents. 0 or -1. */
int limits_remove(uint32_t job_id, struct ms_error *err);

/* Removes the limits of all jobs likewise. */
int limits_remove_all(struct ms_error *err);

#endif
