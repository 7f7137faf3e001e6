/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Performance counters, and counts, that Linux wants of a CPU. */
#ifndef LWK_WATCH_COUNTERS_H
#define LWK_WATCH_COUNTERS_H

#include "abi/shared/counters.h"
#include "lwk/base/types.h"

struct counters {
	bool due;     /* leave_kernel() has to look at them */
	bool running; /* the counters run since 'last' was taken */
	struct lwk_counting told;
	u64 last[LWK_MAX_COUNTERS]; /* a counter's state when its value was brought up to date */
};

/* Finds out, on the first CPU, what hardware counters the CPUs have. */
void counters_inspect(void);
/* Obeys a new order for this CPU's counters; called before the doorbell itself is counted. */
void counters_obey(void);
/* Brings the values up to date; called with 'due' when this CPU leaves the kernel. */
void counters_update(void);

#endif
