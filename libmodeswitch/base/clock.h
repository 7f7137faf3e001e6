/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads CLOCK_MONOTONIC, the clock of all deadlines and durations, and the CPU time of a thread. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/* Now, in milliseconds. */
int64_t clock_ms(void);
/* Now, in microseconds. */
int64_t clock_us(void);
/* Now, in nanoseconds. */
int64_t clock_ns(void);
/* The CPU time of the calling thread, in nanoseconds. */
int64_t thread_cpu_ns(void);

#endif
