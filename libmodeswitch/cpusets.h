/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CPUSETS_H
#define CPUSETS_H

#include <stddef.h>

enum cpuset_mode {
	CPUSETS_NONE,	 /* no version 1 hierarchy with cpusets */
	CPUSETS_V2_MODE, /* one that keeps what is written into it */
	CPUSETS_PLAIN,	 /* one whose cpusets lose CPUs that go off-line */
};

/* Where the version 1 cpusets are mounted, and of which kind they are. */
enum cpuset_mode cpusets_find(char *path, size_t size);

#endif
