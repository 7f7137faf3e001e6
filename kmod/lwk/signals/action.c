/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/signals/action.h"

#include <linux/errno.h>
#include <linux/signal.h>

#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwk/calls/local.h"
#include "lwk/memory/user.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"

#define IGNORED_BY_DEFAULT                                                                         \
	(SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH) |   \
	 SIGNALS_THAT_STOP)

bool signal_ignored(const struct process *process, int signal)
{
	u64 handler = process->actions[signal - 1].handler;

	return handler == HANDLER_IGNORE ||
	       (handler == HANDLER_DEFAULT && SIGNAL_BIT(signal) & IGNORED_BY_DEFAULT);
}

s64 sys_rt_sigaction(struct frame *frame)
{
	struct process *process = this_process();
	u64 signal = frame->rdi;
	struct signal_action action, old;

	if (frame->r10 != sizeof(u64) || signal < 1 || signal > SIGNALS)
		return -EINVAL;
	if (frame->rsi) {
		if (SIGNAL_BIT(signal) & SIGNALS_UNBLOCKABLE)
			return -EINVAL;
		if (copy_from_user(&action, frame->rsi, sizeof(action)))
			return -EFAULT;
		/* A handler returns by its restorer; glibc always gives one. */
		if (action.handler > HANDLER_IGNORE &&
		    (!(action.flags & SA_RESTORER) || action.handler >= LWK_USER_END))
			return -EINVAL;
	}
	spin_lock(&process->action_lock);
	old = process->actions[signal - 1];
	if (frame->rsi)
		process->actions[signal - 1] = action;
	spin_unlock(&process->action_lock);
	if (frame->rsi) {
		if (signal_ignored(process, signal)) {
			pending_drop(&this_thread()->pending, SIGNAL_BIT(signal));
			pending_drop(&process->pending, SIGNAL_BIT(signal));
		}
		/* The proxy ignores the signal, too, so that it interrupts no call there. */
		if (MIN(action.handler, 2) != MIN(old.handler, 2)) {
			__atomic_and_fetch(&process->passed_on, ~SIGNAL_BIT(signal),
					   __ATOMIC_ACQ_REL);
			channel_notice(LWK_CALL_SIGNAL_ACTION, signal, MIN(action.handler, 2));
			signal_ask_for_ignored(SIGNAL_BIT(signal) & this_thread()->blocked);
		}
	}
	return frame->rdx && copy_to_user(frame->rdx, &old, sizeof(old)) ? -EFAULT : 0;
}

/*
 * True when the proxy must have the same action. Linux looks at the proxy's action for terminals,
 * and for children that nobody waits for.
 */
static bool action_counts(const struct process *process, int signal)
{
	return SIGNAL_BIT(signal) & (SIGNALS_THAT_STOP | SIGNAL_BIT(SIGCONT)) ||
	       (signal == SIGCHLD && process->actions[signal - 1].handler == HANDLER_IGNORE);
}

void signal_ask_for_ignored(u64 blocked)
{
	struct process *process = this_process();
	u64 want = blocked & ~SIGNALS_UNBLOCKABLE & ~READ_ONCE(process->passed_on);

	for (; want; want &= want - 1) {
		int s = __builtin_ctzl(want) + 1;

		if (!signal_ignored(process, s) || action_counts(process, s) ||
		    __atomic_fetch_or(&process->passed_on, SIGNAL_BIT(s), __ATOMIC_ACQ_REL) &
			    SIGNAL_BIT(s))
			continue;
		channel_notice(LWK_CALL_SIGNAL_ACTION, s,
			       process->actions[s - 1].handler == HANDLER_IGNORE ? 3 : 2);
	}
}

s64 sys_rt_sigprocmask(struct frame *frame)
{
	struct thread *thread = this_thread();
	u64 set, old = thread->blocked;

	if (frame->r10 != sizeof(u64))
		return -EINVAL;
	if (frame->rsi) {
		if (copy_from_user(&set, frame->rsi, sizeof(set)))
			return -EFAULT;
		if (frame->rdi == SIG_BLOCK)
			set |= old;
		else if (frame->rdi == SIG_UNBLOCK)
			set = old & ~set;
		else if (frame->rdi != SIG_SETMASK)
			return -EINVAL;
		thread->blocked = set & ~SIGNALS_UNBLOCKABLE;
		if (set & ~old)
			signal_ask_for_ignored(set);
		signal_hold();
	}
	if (frame->rdx && copy_to_user(frame->rdx, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}
