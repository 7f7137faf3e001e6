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

/* Where version 1 has it mounted; free(). NULL: nowhere. */
char *controller_mount(const char *controller);
/* A controller that this node lacks is an error if limits->required. 0 or -1. */
int controllers_check(const struct ms_limits *limits, struct ms_error *err);
/* The text of an error number of libcgroup. */
const char *cgroup_error_text(int error);

#endif
