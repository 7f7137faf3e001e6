/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running signal handlers. The frame on a handler's stack is Linux's, because glibc's restorer,
 * unwinders and handlers look into it.
 */
#include "lwk/signals/deliver.h"

#include <asm/sigcontext.h>
#include <linux/errno.h>
#include <linux/signal.h>
/* <asm/ucontext.h> uses types of <linux/signal.h>. */
#include <asm/ucontext.h>

#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwk/calls/local.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/user.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/signals/info.h"
#include "lwk/signals/wait.h"
#include "lwk/watch/console.h"

struct signal_frame {
	u64 restorer;
	struct ucontext context;
	struct signal_info info;
};

#define RED_ZONE 128

/* The registers that a struct frame and a struct sigcontext both have, by the same names. */
#define REGISTERS_OF(from)                                                                         \
	.r8 = (from)->r8, .r9 = (from)->r9, .r10 = (from)->r10, .r11 = (from)->r11,                \
	.r12 = (from)->r12, .r13 = (from)->r13, .r14 = (from)->r14, .r15 = (from)->r15,            \
	.rdi = (from)->rdi, .rsi = (from)->rsi, .rbp = (from)->rbp, .rbx = (from)->rbx,            \
	.rdx = (from)->rdx, .rax = (from)->rax, .rcx = (from)->rcx, .rsp = (from)->rsp,            \
	.rip = (from)->rip

/* fpu_to_user() and fpu_from_user() copy the floating-point state. 0 or -EFAULT. */
static int fpu_to_user(u64 to)
{
	void *area = this_slot()->fpu_area;

	fpu_save(area);
	return copy_to_user(to, area, fpu_size());
}

static int fpu_from_user(u64 from)
{
	void *area = this_slot()->fpu_area;

	if (from % 64 || copy_from_user(area, from, fpu_size()))
		return -EFAULT;
	return fpu_load(area) ? 0 : -EFAULT;
}

/* True when rsp is on the stack of sigaltstack(2), where handlers run that ask for it. */
static bool on_altstack(const struct thread *thread, u64 rsp)
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

/* Builds the handler's frame. 0, or -EFAULT when the stack has no room. */
static int push_handler(struct frame *frame, const struct lwk_signal *signal, u64 old_mask,
			const struct signal_action *action)
{
	const struct thread *thread = this_thread();
	struct signal_frame sf = { .restorer = action->restorer, .info = { .signal = *signal } };
	u64 sp = frame->rsp - RED_ZONE, fpstate;

	if (action->flags & SA_ONSTACK && !(thread->altstack.ss_flags & SS_DISABLE) &&
	    !on_altstack(thread, frame->rsp))
		sp = (u64)thread->altstack.ss_sp + thread->altstack.ss_size;
	if (sp > LWK_USER_END || sp < LWK_USER_START + fpu_size() + sizeof(sf) + PAGE_SIZE)
		return -EFAULT;
	fpstate = ALIGN_DOWN(sp - fpu_size(), 64);
	/* As after a call: the stack is 8 below a multiple of 16. */
	sp = ALIGN_DOWN(fpstate - sizeof(sf), 16) - 8;

	sf.context = (struct ucontext){
		.uc_flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
		.uc_stack = thread->altstack,
		.uc_sigmask = old_mask,
		.uc_mcontext = {
			REGISTERS_OF(frame), .eflags = frame->rflags, .cs = USER_CS, .ss = USER_DS,
			.err = frame->error, .trapno = frame->vector, .oldmask = old_mask,
			.cr2 = signal->field[0], .fpstate = (struct _fpstate *)fpstate,
		},
	};
	if (fpu_to_user(fpstate) || copy_to_user(sp, &sf, sizeof(sf)))
		return -EFAULT;

	frame->rsp = sp;
	frame->rip = action->handler;
	frame->cs = USER_CS; /* handlers are code of 64 bits */
	frame->ss = USER_DS;
	frame->rdi = signal->signal;
	frame->rsi = sp + offsetof(struct signal_frame, info);
	frame->rdx = sp + offsetof(struct signal_frame, context);
	frame->rax = 0;
	frame->rflags &= ~(RFLAGS_DF | RFLAGS_RF | RFLAGS_TF);
	fpu_reset();
	return 0;
}

/* Runs the handler, or ends the process. */
static void act(struct frame *frame, const struct lwk_signal *taken, u64 old_mask)
{
	struct process *process = this_process();
	struct thread *thread = this_thread();
	struct signal_action action;
	int signal = taken->signal;

	spin_lock(&process->action_lock);
	action = process->actions[signal - 1];
	if (action.flags & SA_RESETHAND)
		process->actions[signal - 1].handler = HANDLER_DEFAULT;
	spin_unlock(&process->action_lock);
	if (action.handler > HANDLER_IGNORE && action.flags & SA_RESETHAND)
		channel_notice(LWK_CALL_SIGNAL_ACTION, signal, HANDLER_DEFAULT);
	if (action.handler == HANDLER_IGNORE)
		return; /* another thread has changed it just now */
	if (action.handler == HANDLER_DEFAULT || push_handler(frame, taken, old_mask, &action)) {
		if (action.handler == HANDLER_DEFAULT)
			process_exit(signal);
		if (signal != SIGSEGV) {
			signal_fault(frame, SIGSEGV, SI_KERNEL, 0);
			return;
		}
		print("pid %u: no room on its stack for signal %d", process->pid, signal);
		process->cause.kind = LWK_CAUSE_STACK;
		process_exit(SIGSEGV);
	}
	thread->blocked |= action.mask;
	if (!(action.flags & SA_NODEFER))
		thread->blocked |= SIGNAL_BIT(signal);
	thread->blocked &= ~SIGNALS_UNBLOCKABLE;
}

void signal_fault(struct frame *frame, int signal, int code, u64 addr)
{
	struct process *process = this_process();
	struct thread *thread = this_thread();
	struct signal_action *action = &process->actions[signal - 1];
	struct lwk_signal fault = { .signal = signal, .code = code, .field = { addr } };
	u64 present = signal == SIGSEGV && code == SEGV_ACCERR ? FAULT_PRESENT : 0;

	if (action->handler <= HANDLER_IGNORE || thread->blocked & SIGNAL_BIT(signal)) {
		action->handler = HANDLER_DEFAULT;
		process->cause = (struct lwk_cause){
			/* Without an exception, the stack had no room for a handler's frame. */
			.kind = frame->vector < X86_EXCEPTIONS ? LWK_CAUSE_EXCEPTION
							       : LWK_CAUSE_STACK,
			.exception = frame->vector | (frame->error | present) << 8,
			.at = frame->rip,
			.address = addr,
		};
		print("pid %u: signal %d at %llx, address %llx, stack %llx", process->pid, signal,
		      frame->rip, addr, frame->rsp);
	}
	act(frame, &fault, thread->blocked);
}

s64 restart_call(struct frame *frame)
{
	frame->rip -= 2; /* the length of SYSCALL */
	return frame->rax = frame->error;
}

void signal_deliver(struct frame *frame)
{
	struct process *process = this_process();
	struct thread *thread = this_thread();
	bool interrupted = thread->interrupted;
	u64 waiting, old_mask = thread->suspended ? thread->suspended_mask : thread->blocked;

	thread->interrupted = false;
	while ((waiting = signal_all_pending() & ~thread->blocked)) {
		int signal = __builtin_ctzl(waiting) + 1;
		struct lwk_signal taken;

		if (!signal_take(signal, &taken) || signal_ignored(process, signal))
			continue;
		if (interrupted && process->actions[signal - 1].flags & SA_RESTART)
			restart_call(frame);
		interrupted = false;
		act(frame, &taken, old_mask);
		/* The next one interrupts this handler. */
		thread->suspended = false;
		old_mask = thread->blocked;
	}
	if (thread->suspended)
		signal_unsuspend();
	if (interrupted)
		restart_call(frame);
}

s64 sys_rt_sigreturn(struct frame *frame)
{
	struct process *process = this_process();
	struct thread *thread = this_thread();
	u64 at = frame->rsp - sizeof(u64);
	struct ucontext uc;
	const struct sigcontext *c = &uc.uc_mcontext;

	/* A signal may have interrupted the program in the vDSO. */
	if (copy_from_user(&uc, at + offsetof(struct signal_frame, context), sizeof(uc)) ||
	    (c->rip >= LWK_USER_END && c->rip - LWK_VDSO_VADDR >= LWK_VDSO_BYTES) ||
	    (c->fpstate && fpu_from_user((u64)c->fpstate))) {
		print("pid %u: bad frame in sigreturn, stack %llx", process->pid, frame->rsp);
		process->cause.kind = LWK_CAUSE_FRAME;
		process_exit(SIGSEGV);
	}
	*frame = (struct frame){
		REGISTERS_OF(c),
		.vector = SYSCALL_VECTOR,
		.cs = USER_CS,
		.ss = USER_DS,
		.rflags = (c->eflags & RFLAGS_USER) | RFLAGS_IF | RFLAGS_FIXED,
	};
	thread->blocked = uc.uc_sigmask & ~SIGNALS_UNBLOCKABLE;
	signal_hold();
	return frame->rax;
}
