/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups that limit proxies with version 1.
 */
#ifndef CGROUP_V1_H
#define CGROUP_V1_H

#include <stdint.h>

/* Returns the path of a file of the job's cgroup, to be freed with free(). NULL: none. */
char *cgroup_v1_path(uint32_t job_id, const char *controller, const char *file);

#endif
