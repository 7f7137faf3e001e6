/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/calls/local.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/resource.h>
#include <linux/time.h>

#include "abi/shared/clock.h"
#include "lwk/calls/delegate.h"
#include "lwk/machine/boot.h"
#include "lwk/memory/user.h"
#include "lwk/process/slot.h"
#include "lwk/signals/collect.h"
#include "lwk/signals/wait.h"
#include "lwk/time/clock.h"
#include "lwk/time/cpu_time.h"
#include "lwk/time/read.h"
#include "lwk/watch/account.h"

#define NS_PER_TICK 10000000
/* The time that a wait for a clock of CPU time sleeps before it looks again. */
#define LEAST_SLEEP_NS 1000000UL
#define MOST_SLEEP_NS 1000000000UL

s64 sys_clock_gettime(struct frame *frame)
{
	enum lwk_clock_kind kind = clock_kind(frame->rdi);
	struct cpu_clock clock;
	struct timespec time;
	u64 ns;

	if (__builtin_expect(kind != LWK_CLOCK_KINDS, true))
		ns = clock_now(kind);
	else if (!cpu_clock_find(frame->rdi, &clock) || !cpu_clock_read(&clock, &ns))
		return call_delegate(frame, LWK_CALLS_TIME, true);
	time = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return copy_to_user(frame->rsi, &time, sizeof(time));
}

s64 sys_clock_getres(struct frame *frame)
{
	struct timespec time = { 0, 1 };
	struct cpu_clock clock;

	if (clock_kind(frame->rdi) == LWK_CLOCK_KINDS && !cpu_clock_find(frame->rdi, &clock))
		return call_delegate(frame, LWK_CALLS_TIME, true);
	return frame->rsi ? copy_to_user(frame->rsi, &time, sizeof(time)) : 0;
}

s64 sys_getrusage(struct frame *frame)
{
	struct rusage usage = { 0 };
	struct cpu_time used;
	int who = frame->rdi;

	/* Linux has charged their proxies. */
	if (who == RUSAGE_CHILDREN)
		return call_delegate(frame, LWK_CALLS_PROCESS, true);
	if (who != RUSAGE_SELF && who != RUSAGE_THREAD)
		return -EINVAL;
	cpu_time_read(who == RUSAGE_THREAD ? this_thread()->tid : 0, &used);
	usage.ru_utime.tv_sec = used.user / 1000000000;
	usage.ru_utime.tv_usec = used.user % 1000000000 / 1000;
	usage.ru_stime.tv_sec = used.system / 1000000000;
	usage.ru_stime.tv_usec = used.system % 1000000000 / 1000;
	usage.ru_maxrss = this_process()->space.peak_bytes / 1024;
	usage.ru_minflt = this_slot()->status->faults;
	return copy_to_user(frame->rsi, &usage, sizeof(usage));
}

/* Linux knows the result, and the times of ended children, with which it charged their proxies. */
s64 sys_times(struct frame *frame)
{
	s64 result = call_delegate(frame, LWK_CALLS_TIME, true);
	struct cpu_time used;
	u64 own[2];

	cpu_time_read(0, &used);
	own[0] = used.user / NS_PER_TICK;
	own[1] = used.system / NS_PER_TICK;
	/* tms_utime and tms_stime are first. */
	if (result >= 0 && frame->rdi && copy_to_user(frame->rdi, own, sizeof(own)))
		return -EFAULT;
	return result;
}

/* clock_nanosleep(clock, flags, time, what is left of it) */
s64 sys_clock_nanosleep(struct frame *frame)
{
	bool absolute = frame->rsi & TIMER_ABSTIME;
	struct cpu_clock clock;
	u64 until, now;
	s64 result;

	if (!cpu_clock_is(frame->rdi))
		return call_delegate(frame, LWK_CALLS_WAIT, false);
	result = clock_read_time(frame->rdx, &until);
	if (result)
		return result;
	/* A thread that waits for its own time waits for ever. */
	if (!cpu_clock_find(frame->rdi, &clock) || clock.tid == this_thread()->tid ||
	    !cpu_clock_read(&clock, &now))
		return -EINVAL;
	if (!absolute && __builtin_add_overflow(until, now, &until))
		until = NO_DEADLINE;
	account(LWK_CPU_WAITING);
	while (!result && cpu_clock_read(&clock, &now) && now < until) {
		/* The process's clock goes at most n_cpus times as fast as time does. */
		u64 pause = MAX((until - now) / boot->n_cpus, LEAST_SLEEP_NS);

		signal_collect();
		if (signal_effective())
			result = -EINTR;
		else
			signal_wait_until(clock_monotonic() + MIN(pause, MOST_SLEEP_NS));
	}
	account(LWK_CPU_USER);
	if (result == -EINTR && !absolute && frame->r10) {
		u64 left[2] = { (until - now) / 1000000000, (until - now) % 1000000000 };

		if (copy_to_user(frame->r10, left, sizeof(left)))
			return -EFAULT;
	}
	return result;
}
