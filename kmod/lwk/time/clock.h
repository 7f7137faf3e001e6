/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time: the TSC, scaled as Linux's own clock. */
#ifndef LWK_TIME_CLOCK_H
#define LWK_TIME_CLOCK_H

#include "abi/shared/clock.h"
#include "lwk/base/types.h"

/* The deadline of a wait without a limit. */
#define NO_DEADLINE (~0UL)

/* Nanoseconds. */
u64 clock_now(enum lwk_clock_kind kind);
u64 clock_monotonic(void);
u64 clock_cycles_to_ns(u64 cycles);
/* Stores sec seconds and part * unit ns as ns. False: the two are no valid time. */
bool clock_to_ns(s64 sec, s64 part, s64 unit, u64 *ns);
/*
 * Reads the struct timespec at addr; NO_DEADLINE: longer than can be counted. 0, -EFAULT, -EINVAL.
 */
s64 clock_read_time(u64 addr, u64 *ns);
/* Stores the end, on the monotonic clock, of a wait with the time at addr; 0: it has none. */
enum wait_end { WAIT_FOR, WAIT_UNTIL, WAIT_UNTIL_REALTIME };
s64 clock_read_deadline(u64 addr, enum wait_end end, u64 *deadline);

#endif
