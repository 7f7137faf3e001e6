/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes and removes cgroups of version 1 by libcgroup. A build without it (configure
 * --without-libcgroup) makes none.
 */
#ifndef LIMITS_LIBCGROUP_H
#define LIMITS_LIBCGROUP_H

#include <stdbool.h>

#include "modeswitch/error.h"

/* A file of a cgroup, and the value to be written. */
struct setting {
	const char *file;
	char *value; /* free(); NULL: there was no memory for it */
};

bool libcgroup_is_there(void);

/*
 * Makes a cgroup unless it exists, and writes the settings, up to one without a file, in any case.
 * 0 or -1.
 */
int libcgroup_make(const char *controller, const char *name, const struct setting *settings,
		   struct ms_error *err);

/* Removes a cgroup; its processes go to the parent. 0 or -1. */
int libcgroup_remove(const char *controller, const char *name, struct ms_error *err);

#endif
