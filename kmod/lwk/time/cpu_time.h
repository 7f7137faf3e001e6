/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time: what threads compute, and what the LWK does for them. It includes neither the time that
 * Linux takes for their delegated calls, nor their waits, nor the turns of other threads.
 */
#ifndef LWK_TIME_CPU_TIME_H
#define LWK_TIME_CPU_TIME_H

#include "lwk/base/types.h"

struct process;
struct slot;

struct cpu_time {
	u64 user, system;
};

/* Begins to count for the thread that this slot is about to run. */
void cpu_time_begin(struct slot *slot);
/* The thread of this slot ends: its time is added to that of its process. */
void cpu_time_end(struct slot *slot);
/* The TSC cycles of all threads of this process, also of those that have ended. */
struct cpu_time cpu_time_cycles(void);
/* The nanoseconds of this process, or of a thread of it; false: there is none of this number. */
bool cpu_time_read(u32 tid, struct cpu_time *time);
/* The number of threads of this process that are on a CPU just now. */
u32 cpu_time_users(void);

/* A clock that shows CPU time (clock_getcpuclockid(3)). */
struct cpu_clock {
	u32 tid;  /* of the thread whose time it shows; 0: the process's */
	u32 part; /* 1: user time; 0, 2: all; as Linux numbers them in a clock's id */
};

/* True when the clock with this id shows CPU time. */
bool cpu_clock_is(s32 id);
/* Finds that clock; false: it is not about this process. */
bool cpu_clock_find(s32 id, struct cpu_clock *clock);
/* Stores nanoseconds; false: its thread is gone. */
bool cpu_clock_read(const struct cpu_clock *clock, u64 *ns);

#endif
