/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/signals/altstack.h"

#include <linux/errno.h>
#include <linux/signal.h>

#include "abi/shared/layout.h"
#include "lwk/calls/local.h"
#include "lwk/memory/user.h"
#include "lwk/process/slot.h"

bool on_altstack(const struct thread *thread, u64 rsp)
{
	return !(thread->altstack.ss_flags & SS_DISABLE) && rsp > (u64)thread->altstack.ss_sp &&
	       rsp - (u64)thread->altstack.ss_sp <= thread->altstack.ss_size;
}

s64 sys_sigaltstack(struct frame *frame)
{
	struct thread *thread = this_thread();
	stack_t stack, old = thread->altstack;
	bool in_use = on_altstack(thread, frame->rsp);

	if (in_use)
		old.ss_flags |= SS_ONSTACK;
	if (frame->rdi) {
		if (copy_from_user(&stack, frame->rdi, sizeof(stack)))
			return -EFAULT;
		if (in_use)
			return -EPERM;
		if (stack.ss_flags & ~(SS_DISABLE | SS_ONSTACK))
			return -EINVAL;
		if (!(stack.ss_flags & SS_DISABLE) && stack.ss_size < MINSIGSTKSZ)
			return -ENOMEM;
		if (!(stack.ss_flags & SS_DISABLE) &&
		    ((u64)stack.ss_sp > LWK_USER_END ||
		     stack.ss_size > LWK_USER_END - (u64)stack.ss_sp))
			return -EFAULT;
		stack.ss_flags &= SS_DISABLE;
	}
	if (frame->rsi && copy_to_user(frame->rsi, &old, sizeof(old)))
		return -EFAULT;
	if (frame->rdi)
		thread->altstack = stack;
	return 0;
}
