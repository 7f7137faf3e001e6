/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers that run out after some CPU time of a process or a thread: ITIMER_VIRTUAL and ITIMER_PROF
 * of setitimer(2), and those of timer_create(2) with such a clock. All other timers are Linux's.
 *
 * A CPU that runs a thread of a process with such a timer is interrupted when the first of them may
 * run out, and looks then. No other process is interrupted.
 */
#ifndef LWK_TIME_CPU_TIMERS_H
#define LWK_TIME_CPU_TIMERS_H

#include "lwk/base/lock.h"
#include "lwk/base/types.h"

/* The timers of a process are in a kernel page, which it has from its first timer on. */
struct cpu_timers {
	struct spinlock lock;
	u32 n_due; /* timers that run */
	struct cpu_timer *all;
};

/* True when the number is one of a timer of this kind, which need not exist. */
bool cpu_timer_is(u32 id);
/* Sends the signals of timers that have run out. */
void cpu_timers_expire(void);
/* The time on the monotonic clock at which a timer may run out and interrupt this thread. */
u64 cpu_timers_deadline(void);
/* Frees the timers of this slot's process, which has ended. */
void cpu_timers_end(void);

#endif
