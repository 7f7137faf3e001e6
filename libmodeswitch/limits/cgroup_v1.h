/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups that limit proxies with version 1.
 */
#ifndef CGROUP_V1_H
#define CGROUP_V1_H

#include <stdint.h>
#include <sys/types.h>

#include "modeswitch/error.h"
#include "modeswitch/limits.h"

/* Returns the path of a file of the job's cgroup, to be freed with free(). NULL: none. */
char *cgroup_v1_path(uint32_t job_id, const char *controller, const char *file);
/* Moves the process into the job's cgroups. 0 or -1. */
int cgroup_v1_enter(uint32_t job_id, const struct ms_limits *limits, pid_t pid,
		    struct ms_error *err);

#endif
