/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Performance counters, and counts, that Linux wants of a CPU. */
#ifndef LWK_WATCH_COUNTERS_H
#define LWK_WATCH_COUNTERS_H

#include "abi/shared/counters.h"
#include "lwk/base/types.h"

struct counters {
	bool due;     /* leave_kernel() has to look at them */
	bool running; /* since 'last' was taken */
	struct lwk_counting told;
	u64 last[LWK_MAX_COUNTERS]; /* what each stood at when its value was brought up to date */
};

/* Once, by the first CPU: what hardware counters there are. All CPUs are alike. */
void counters_inspect(void);
/* Does what Linux may want of this CPU's counters; before the doorbell itself is counted. */
void counters_obey(void);
/* With 'due', when this CPU leaves the kernel: brings the values up to date. */
void counters_update(void);

#endif
