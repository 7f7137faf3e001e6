/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/calls/time.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/resource.h>
#include <linux/time.h>

#include "abi/shared/clock.h"
#include "abi/shared/statistics.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/user.h"
#include "lwk/process/process.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/time/clock.h"
#include "lwk/time/read.h"

static u64 thread_ns(void)
{
	return clock_cycles_to_ns(rdtsc() - this_slot()->start_tsc);
}

/* The time of a slot is its thread's from start to end, except the turns of other slots. */
static u64 cycles_until(const struct slot *slot, u64 now)
{
	u64 end = LOAD_ACQUIRE(slot->cpu->current) == slot ? now : READ_ONCE(slot->stopped_tsc);
	u64 start = READ_ONCE(slot->start_tsc);

	/* Its turn may begin just now. */
	return end > start ? end - start : 0;
}

static u64 process_ns(void)
{
	const struct process *process = this_process();
	u64 now = rdtsc(), cycles = READ_ONCE(process->past_cycles) + now - this_slot()->start_tsc;

	for (u32 i = 0; READ_ONCE(process->n_slots) > 1 && i < boot->n_slots; i++) {
		const struct slot *slot = slot_at(i);

		if (slot != this_slot() && LOAD_ACQUIRE(slot->process) == process &&
		    READ_ONCE(slot->running))
			cycles += cycles_until(slot, now);
	}
	return clock_cycles_to_ns(cycles);
}

s64 sys_clock_gettime(struct frame *frame)
{
	enum lwk_clock_kind kind = clock_kind(frame->rdi);
	struct timespec time;
	u64 ns;

	if (kind != LWK_CLOCK_KINDS)
		ns = clock_now(kind);
	else if (frame->rdi == CLOCK_PROCESS_CPUTIME_ID)
		ns = process_ns();
	else if (frame->rdi == CLOCK_THREAD_CPUTIME_ID)
		ns = thread_ns();
	else
		return -EINVAL;
	time = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return copy_to_user(frame->rsi, &time, sizeof(time));
}

s64 sys_clock_getres(struct frame *frame)
{
	struct timespec time = { 0, 1 };

	if (frame->rdi > CLOCK_THREAD_CPUTIME_ID && clock_kind(frame->rdi) == LWK_CLOCK_KINDS)
		return -EINVAL;
	return frame->rsi ? copy_to_user(frame->rsi, &time, sizeof(time)) : 0;
}

s64 sys_gettimeofday(struct frame *frame)
{
	u64 us = clock_realtime() / 1000;
	struct timespec time = { us / 1000000, us % 1000000 };

	if (frame->rsi) {
		u64 zone = 0;

		if (copy_to_user(frame->rsi, &zone, sizeof(zone)))
			return -EFAULT;
	}
	return frame->rdi ? copy_to_user(frame->rdi, &time, sizeof(time)) : 0;
}

s64 sys_time(struct frame *frame)
{
	s64 seconds = clock_realtime() / 1000000000;

	if (frame->rdi && copy_to_user(frame->rdi, &seconds, sizeof(seconds)))
		return -EFAULT;
	return seconds;
}

s64 sys_getrusage(struct frame *frame)
{
	u64 args[6] = { frame->rdi, frame->rsi }, us;
	struct rusage usage = { 0 };
	int who = frame->rdi;

	/* Linux has charged their proxies. */
	if (who == RUSAGE_CHILDREN) {
		this_slot()->status->delegated_calls[LWK_CALLS_PROCESS]++;
		return channel_request(__NR_getrusage, args);
	}
	if (who != RUSAGE_SELF && who != RUSAGE_THREAD)
		return -EINVAL;
	us = (who == RUSAGE_THREAD ? thread_ns() : process_ns()) / 1000;
	usage.ru_utime.tv_sec = us / 1000000;
	usage.ru_utime.tv_usec = us % 1000000;
	usage.ru_maxrss = this_process()->space.peak_bytes / 1024;
	usage.ru_minflt = this_slot()->status->faults;
	return copy_to_user(frame->rsi, &usage, sizeof(usage));
}
