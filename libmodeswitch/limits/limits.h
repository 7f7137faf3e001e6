/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits of a job's proxies, by cgroups.
 *
 * With version 1 they are cgroups of our own, slurm-lwk/job_ID in each hierarchy that limits
 * something; lwkpart.ko moves proxies into them. Slurm finds its processes by its freezer, where
 * they stay. Jobs that share the OS CPUs are below slurm-lwk/shared, which has the CPU time that
 * they may have together, and they have equal weights.
 *
 * With version 2 there is but one hierarchy, in which a process that left its place would be lost
 * to Slurm. So the limits are set on cgroups that Slurm made (ms_limits_step()).
 */
#ifndef LIMITS_H
#define LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modeswitch/error.h"
#include "modeswitch/limits.h"

#define LIMITS_MAX_GROUPS 4

/* Which controllers this node lacks: "memory, pids"; "" when it has all. */
int limits_look(char *missing, size_t size, struct ms_error *err);

/*
 * Makes the cgroups of version 1; with version 2 it only looks. A controller that this node lacks
 * is an error if limits->required.
 */
int limits_make(uint32_t job_id, const struct ms_limits *limits, struct ms_error *err);

/* Opens what puts a process into each of them: file descriptors; their number, or -1. */
int limits_open(uint32_t job_id, const struct ms_limits *limits, int fds[LIMITS_MAX_GROUPS],
		struct ms_error *err);

/* Removes them; processes that are left go to the cgroup above. They may be gone already. */
int limits_remove(uint32_t job_id, struct ms_error *err);

/* The same for all jobs that have any. */
int limits_remove_all(struct ms_error *err);

#endif
