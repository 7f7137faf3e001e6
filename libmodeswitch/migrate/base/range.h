/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of memory, and pages of a process that are selected by ranges.
 */
#ifndef RANGE_H
#define RANGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Addresses, from 'start' up to 'end' without it. */
struct migrate_range {
	uint64_t start, end;
};

/* Some pages of a process: virtual addresses, sorted. */
struct migrate_selection {
	pid_t pid;
	uint64_t started; /* in clock ticks since boot, as /proc/PID/stat has it */
	const struct migrate_range *ranges;
	size_t n;
};

#endif
