/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/calls/local.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/signal.h>

#include "lwk/memory/user.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/time/cpu_timers.h"

/* True when the signal stays with Linux, or stops the proxy and with it the process. */
static bool is_for_linux(u64 signal)
{
	u64 bit = signal ? SIGNAL_BIT(signal) : 0;

	return bit & this_slot()->held ||
	       (bit & SIGNALS_THAT_STOP && !(bit & this_thread()->blocked) &&
		this_process()->actions[signal - 1].handler == HANDLER_DEFAULT);
}

static s64 send_by_linux(struct frame *frame)
{
	return channel_call(PROCESS, frame->error, frame->rdi, frame->rsi, frame->rdx, frame->r10);
}

/* Sends a signal to this thread, or to its process: to a thread of it that does not block it. */
static s64 send_here(struct frame *frame, bool for_thread, u64 signal, struct lwk_signal *sent)
{
	if (signal > SIGNALS)
		return -EINVAL;
	if (is_for_linux(signal))
		return send_by_linux(frame);
	sent->signal = signal;
	if (!signal)
		return 0;
	return for_thread ? pending_add(&this_thread()->pending, sent)
			  : signal_add_to_process(sent);
}

/* A signal from the process itself, as kill(2) and tkill(2) make it. */
static s64 send_own(struct frame *frame, bool for_thread, u64 signal)
{
	const struct process *process = this_process();
	struct lwk_signal sent = { .code = for_thread ? SI_TKILL : SI_USER,
				   .field = { process->pid | (u64)process->uid << 32 } };

	return send_here(frame, for_thread, signal, &sent);
}

s64 sys_kill(struct frame *frame)
{
	/* Linux finds other processes, and another thread of this one by the proxy's threads. */
	if ((u32)frame->rdi != this_process()->pid)
		return send_by_linux(frame);
	return send_own(frame, false, frame->rsi);
}

s64 sys_tkill(struct frame *frame)
{
	if ((u32)frame->rdi != this_thread()->tid)
		return send_by_linux(frame);
	return send_own(frame, true, frame->rsi);
}

s64 sys_tgkill(struct frame *frame)
{
	if ((u32)frame->rdi != this_process()->pid || (u32)frame->rsi != this_thread()->tid)
		return send_by_linux(frame);
	return send_own(frame, true, frame->rdx);
}

/* Queues a signal for the process itself, with the information that it chooses. */
static s64 queue_here(struct frame *frame, bool for_thread, u64 signal, u64 address)
{
	struct lwk_signal sent;

	if (copy_from_user(&sent, address, sizeof(sent)))
		return -EFAULT;
	return send_here(frame, for_thread, signal, &sent);
}

s64 sys_rt_sigqueueinfo(struct frame *frame)
{
	if ((u32)frame->rdi != this_process()->pid)
		return send_by_linux(frame);
	return queue_here(frame, false, frame->rsi, frame->rdx);
}

s64 sys_rt_tgsigqueueinfo(struct frame *frame)
{
	if ((u32)frame->rdi != this_process()->pid || (u32)frame->rsi != this_thread()->tid)
		return send_by_linux(frame);
	return queue_here(frame, true, frame->rdx, frame->r10);
}

/* Linux counts overruns until the proxy has the signal, and the LWK until the program has it. */
s64 sys_timer_getoverrun(struct frame *frame)
{
	u64 taken = READ_ONCE(this_process()->taken_timer);
	bool is_last = (u32)taken == (u32)frame->rdi + 1;
	s64 overruns;

	if (cpu_timer_is(frame->rdi))
		return is_last ? (s64)(taken >> 32) : 0;
	overruns = channel_call(TIME, __NR_timer_getoverrun, frame->rdi);
	return overruns >= 0 && is_last ? (s64)(taken >> 32) : overruns;
}
