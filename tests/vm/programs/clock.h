/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock by which programs measure how long something takes. */
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>

/* Returns the seconds since some moment in the past. */
static inline double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

#endif
