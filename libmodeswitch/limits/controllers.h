/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup controllers that limits need, and where version 1 has them mounted.
 */
#ifndef CONTROLLERS_H
#define CONTROLLERS_H

#include "limits/limits.h"
#include "modeswitch/error.h"
#include "modeswitch/limits.h"

/* "cpuset", "cpu", "memory", "pids" */
extern const char *const controllers[LIMITS_MAX_GROUPS];

/*
 * The mount point of a controller with version 1; free(). NULL: it is not mounted, or libcgroup is
 * not there.
 */
char *controller_mount(const char *controller);
/* -1 if limits->required and this node lacks a controller; else 0. */
int controllers_check(const struct ms_limits *limits, struct ms_error *err);

#endif
