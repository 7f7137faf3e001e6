/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/signals/wait.h"

#include <asm/unistd.h>
#include <linux/errno.h>

#include "lwk/calls/local.h"
#include "lwk/memory/user.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/signals/info.h"
#include "lwk/time/clock.h"
#include "lwk/watch/account.h"

s64 sys_rt_sigpending(struct frame *frame)
{
	u64 pending, linux_has = 0;

	if (frame->rsi > sizeof(u64))
		return -EINVAL;
	signal_collect();
	if (this_slot()->held && !channel_call(PROCESS, __NR_rt_sigpending, frame->rdi, frame->rsi))
		copy_from_user(&linux_has, frame->rdi, frame->rsi);
	pending = (signal_all_pending() & this_thread()->blocked) | linux_has;
	return copy_to_user(frame->rdi, &pending, frame->rsi);
}

static bool signal_or_end(const struct slot *slot)
{
	return signal_comes(slot) || READ_ONCE(slot->process->ending);
}

void signal_wait_until(u64 deadline)
{
	slot_sleep_until(signal_or_end, deadline);
	if (!channel_ordered(this_slot()) || READ_ONCE(this_process()->ending))
		process_abandon();
	channel_serve_fault();
}

/* Takes a pending signal of 'set'; 0: there is none. */
static int take_one(u64 set, struct lwk_signal *taken)
{
	u64 pending = signal_all_pending() & set;

	for (int s = 1; pending && s <= SIGNALS; s++)
		if (pending & SIGNAL_BIT(s) && signal_take(s, taken))
			return s;
	return 0;
}

/* Waits for a signal of 'set'. -EINTR: another one came first; -EAGAIN: none until the deadline. */
static s64 await_one(u64 set, u64 deadline, struct lwk_signal *taken)
{
	s64 result;

	account(LWK_CPU_WAITING);
	while (signal_collect(), !(result = take_one(set, taken))) {
		if (signal_effective())
			result = -EINTR;
		else if (deadline != NO_DEADLINE && clock_monotonic() >= deadline)
			result = -EAGAIN;
		if (result)
			break;
		signal_wait_until(deadline);
	}
	account(LWK_CPU_USER);
	return result;
}

s64 sys_rt_sigtimedwait(struct frame *frame)
{
	struct thread *thread = this_thread();
	struct signal_info info = { 0 };
	u64 set, deadline, blocked = thread->blocked;
	s64 result;

	if (frame->r10 != sizeof(u64))
		return -EINVAL;
	if (copy_from_user(&set, frame->rdi, sizeof(set)))
		return -EFAULT;
	result = clock_read_deadline(frame->rdx, WAIT_FOR, &deadline);
	if (result)
		return result;
	set &= ~SIGNALS_UNBLOCKABLE;
	signal_ask_for_ignored(set);
	/* Other threads see that this one takes these signals. */
	WRITE_ONCE(thread->blocked, blocked & ~set);
	signal_hold();
	result = await_one(set, deadline, &info.signal);
	WRITE_ONCE(thread->blocked, blocked);
	signal_hold();
	if (result <= 0)
		return result;
	return frame->rsi && copy_to_user(frame->rsi, &info, sizeof(info)) ? -EFAULT : result;
}

void signal_suspend(u64 mask)
{
	struct thread *thread = this_thread();

	thread->suspended_mask = thread->blocked;
	thread->suspended = true;
	WRITE_ONCE(thread->blocked, mask & ~SIGNALS_UNBLOCKABLE);
	signal_hold();
	signal_collect();
}

void signal_unsuspend(void)
{
	struct thread *thread = this_thread();

	WRITE_ONCE(thread->blocked, thread->suspended_mask);
	thread->suspended = false;
	signal_hold();
}

s64 sys_rt_sigsuspend(struct frame *frame)
{
	u64 mask;

	if (frame->rsi != sizeof(u64))
		return -EINVAL;
	if (copy_from_user(&mask, frame->rdi, sizeof(mask)))
		return -EFAULT;
	signal_suspend(mask);
	return await_one(0, NO_DEADLINE, NULL);
}

s64 sys_pause(struct frame *frame)
{
	return await_one(0, NO_DEADLINE, NULL);
}
