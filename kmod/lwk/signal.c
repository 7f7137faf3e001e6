/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals. What others send reaches the proxy, which passes it on in the channel; what
 * the process sends to itself and its own faults stay here. The frame on a handler's
 * stack is Linux's, because glibc's restorer, unwinders and handlers look into it.
 */
#include "lwk.h"

#define SIG_DFL 0
#define SIG_IGN 1
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_SIGINFO 4UL
#define SA_ONSTACK 0x08000000UL
#define SA_RESTART 0x10000000UL
#define SA_NODEFER 0x40000000UL
#define SA_RESETHAND 0x80000000UL
#define SA_RESTORER 0x04000000UL

#define SS_ONSTACK 1
#define SS_DISABLE 2
#define MINSIGSTKSZ 2048

#define BIT(signal) (1UL << ((signal)-1))
#define UNBLOCKABLE (BIT(SIGKILL) | BIT(SIGSTOP))
/* These never come from Linux, unless there is a handler: it stops the proxy. */
#define STOPS_BY_DEFAULT (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))
#define IGNORED_BY_DEFAULT                                                                         \
	(BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH) | STOPS_BY_DEFAULT)

/* Linux's struct sigcontext, ucontext, siginfo and rt_sigframe of x86-64. */
struct sigcontext {
	u64 r8, r9, r10, r11, r12, r13, r14, r15;
	u64 rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
	u16 cs, gs, fs, ss;
	u64 error, trap, old_mask, cr2;
	u64 fpstate;
	u64 reserved[8];
};

struct ucontext {
	u64 flags;
	u64 link;
	struct sigstack stack;
	struct sigcontext context;
	u64 mask;
};
#define UC_FP_XSTATE 1UL
#define UC_SIGCONTEXT_SS 2UL
#define UC_STRICT_RESTORE_SS 4UL

struct siginfo {
	int signal, error, code, pad;
	u64 field[14]; /* fault: address; sent: pid | uid << 32 */
};

struct signal_frame {
	u64 restorer;
	struct ucontext context;
	struct siginfo info;
};
_Static_assert(sizeof(struct sigcontext) == 256, "as Linux's");
_Static_assert(sizeof(struct siginfo) == 128, "as Linux's");

#define RED_ZONE 128

void signal_init(struct process *process)
{
	process->altstack.flags = SS_DISABLE;
}

void signal_collect(struct process *process)
{
	struct lwk_channel *channel = this_cpu()->channel;

	if (READ_ONCE(channel->signals))
		process->pending |= __atomic_exchange_n(&channel->signals, 0, __ATOMIC_ACQ_REL);
}

static bool ignored(const struct process *process, int signal)
{
	u64 handler = process->actions[signal - 1].handler;

	return handler == SIG_IGN || (handler == SIG_DFL && BIT(signal) & IGNORED_BY_DEFAULT);
}

bool signal_waiting(const struct process *process)
{
	return process->pending & ~process->blocked;
}

/* Is there a signal that ends the process or runs a handler? */
static bool signal_effective(const struct process *process)
{
	u64 waiting = process->pending & ~process->blocked;

	for (int s = 1; waiting && s <= SIGNALS; s++)
		if (waiting & BIT(s) && !ignored(process, s))
			return true;
	return false;
}

static bool on_altstack(const struct process *process, u64 rsp)
{
	return !(process->altstack.flags & SS_DISABLE) && rsp > process->altstack.sp &&
	       rsp - process->altstack.sp <= process->altstack.size;
}

/* Copies the floating-point state out to the process, or in; 0 or -EFAULT. */
static int fpu_to_user(u64 to)
{
	void *area = this_cpu()->fpu_area;

	fpu_save(area);
	return copy_to_user(to, area, fpu_size());
}

static int fpu_from_user(u64 from)
{
	void *area = this_cpu()->fpu_area;

	if (from % 64 || copy_from_user(area, from, fpu_size()))
		return -EFAULT;
	fpu_load(area);
	return 0;
}

/* Builds the handler's frame. 0, or -EFAULT when the stack has no room. */
static int push_handler(struct frame *frame, int signal, const struct siginfo *info, u64 old_mask)
{
	struct process *process = this_process();
	const struct sigaction *action = &process->actions[signal - 1];
	struct signal_frame sf = { .restorer = action->restorer, .info = *info };
	u64 sp = frame->rsp - RED_ZONE, fpstate;

	if (action->flags & SA_ONSTACK && !(process->altstack.flags & SS_DISABLE) &&
	    !on_altstack(process, frame->rsp))
		sp = process->altstack.sp + process->altstack.size;
	if (sp > LWK_USER_END || sp < LWK_USER_START + fpu_size() + sizeof(sf) + PAGE_SIZE)
		return -EFAULT;
	fpstate = ALIGN_DOWN(sp - fpu_size(), 64);
	/* As after a call: the stack is 8 below a multiple of 16. */
	sp = ALIGN_DOWN(fpstate - sizeof(sf), 16) - 8;

	sf.context = (struct ucontext){
		.flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
		.stack = process->altstack,
		.mask = old_mask,
		.context = {
			.r8 = frame->r8, .r9 = frame->r9, .r10 = frame->r10, .r11 = frame->r11,
			.r12 = frame->r12, .r13 = frame->r13, .r14 = frame->r14,
			.r15 = frame->r15, .rdi = frame->rdi, .rsi = frame->rsi,
			.rbp = frame->rbp, .rbx = frame->rbx, .rdx = frame->rdx,
			.rax = frame->rax, .rcx = frame->rcx, .rsp = frame->rsp,
			.rip = frame->rip, .rflags = frame->rflags, .cs = USER_CS, .ss = USER_DS,
			.error = frame->error, .trap = frame->vector,
			.cr2 = info->field[0], .fpstate = fpstate, .old_mask = old_mask,
		},
	};
	if (fpu_to_user(fpstate) || copy_to_user(sp, &sf, sizeof(sf)))
		return -EFAULT;

	frame->rsp = sp;
	frame->rip = action->handler;
	frame->rdi = signal;
	frame->rsi = sp + offsetof(struct signal_frame, info);
	frame->rdx = sp + offsetof(struct signal_frame, context);
	frame->rax = 0;
	frame->rflags &= ~(RFLAGS_DF | RFLAGS_RF | RFLAGS_TF);
	return 0;
}

/* Runs the handler, or ends the process. */
static void act(struct frame *frame, int signal, const struct siginfo *info, u64 old_mask)
{
	struct process *process = this_process();
	struct sigaction *action = &process->actions[signal - 1];

	if (action->handler == SIG_DFL || push_handler(frame, signal, info, old_mask)) {
		bool no_stack = action->handler != SIG_DFL;

		if (no_stack)
			print("pid %u: no room on its stack for signal %d", process->pid, signal);
		process_exit(no_stack ? SIGSEGV : signal);
	}
	process->blocked |= action->mask;
	if (!(action->flags & SA_NODEFER))
		process->blocked |= BIT(signal);
	process->blocked &= ~UNBLOCKABLE;
	if (action->flags & SA_RESETHAND)
		action->handler = SIG_DFL;
}

void signal_fault(struct frame *frame, int signal, int code, u64 addr)
{
	struct process *process = this_process();
	struct sigaction *action = &process->actions[signal - 1];
	struct siginfo info = { .signal = signal, .code = code, .field = { addr } };

	if (action->handler <= SIG_IGN || process->blocked & BIT(signal)) {
		action->handler = SIG_DFL;
		print("pid %u: signal %d at %llx, address %llx, stack %llx", process->pid, signal,
		      frame->rip, addr, frame->rsp);
	}
	act(frame, signal, &info, process->blocked);
}

static void restart_call(struct frame *frame)
{
	frame->rip -= 2; /* the length of SYSCALL */
	frame->rax = frame->error;
}

void signal_deliver(struct frame *frame)
{
	struct process *process = this_process();
	bool interrupted = process->interrupted;
	u64 waiting, old_mask = process->suspended ? process->suspended_mask : process->blocked;

	process->interrupted = false;
	while ((waiting = process->pending & ~process->blocked)) {
		int signal = __builtin_ctzl(waiting) + 1;
		struct siginfo info = { .signal = signal, .field = { process->pid } };

		process->pending &= ~BIT(signal);
		if (ignored(process, signal))
			continue;
		if (interrupted && process->actions[signal - 1].flags & SA_RESTART)
			restart_call(frame);
		interrupted = false;
		act(frame, signal, &info, old_mask);
		/* The next one interrupts this handler. */
		process->suspended = false;
		old_mask = process->blocked;
	}
	if (process->suspended)
		process->blocked = process->suspended_mask;
	process->suspended = false;
	if (interrupted)
		restart_call(frame);
}

s64 signal_return(struct frame *frame)
{
	struct process *process = this_process();
	u64 at = frame->rsp - sizeof(u64);
	struct ucontext uc;
	const struct sigcontext *c = &uc.context;

	if (copy_from_user(&uc, at + offsetof(struct signal_frame, context), sizeof(uc)) ||
	    c->rip >= LWK_USER_END || (c->fpstate && fpu_from_user(c->fpstate))) {
		print("pid %u: bad frame in sigreturn, stack %llx", process->pid, frame->rsp);
		process_exit(SIGSEGV);
	}
	*frame = (struct frame){
		.r8 = c->r8,
		.r9 = c->r9,
		.r10 = c->r10,
		.r11 = c->r11,
		.r12 = c->r12,
		.r13 = c->r13,
		.r14 = c->r14,
		.r15 = c->r15,
		.rdi = c->rdi,
		.rsi = c->rsi,
		.rbp = c->rbp,
		.rbx = c->rbx,
		.rdx = c->rdx,
		.rax = c->rax,
		.rcx = c->rcx,
		.rsp = c->rsp,
		.rip = c->rip,
		.vector = SYSCALL_VECTOR,
		.cs = USER_CS,
		.ss = USER_DS,
		.rflags = (c->rflags & RFLAGS_USER) | RFLAGS_IF | RFLAGS_FIXED,
	};
	process->blocked = uc.mask & ~UNBLOCKABLE;
	return frame->rax;
}

/* ---- system calls ---- */

s64 sys_rt_sigaction(struct frame *frame)
{
	struct process *process = this_process();
	u64 signal = frame->rdi;
	struct sigaction action, old;

	if (frame->r10 != sizeof(u64) || signal < 1 || signal > SIGNALS)
		return -EINVAL;
	old = process->actions[signal - 1];
	if (frame->rsi) {
		if (BIT(signal) & UNBLOCKABLE)
			return -EINVAL;
		if (copy_from_user(&action, frame->rsi, sizeof(action)))
			return -EFAULT;
		/* Without a restorer there is no way back: glibc always gives one. */
		if (action.handler > SIG_IGN &&
		    (!(action.flags & SA_RESTORER) || action.handler >= LWK_USER_END))
			return -EINVAL;
	}
	if (frame->rdx && copy_to_user(frame->rdx, &old, sizeof(old)))
		return -EFAULT;
	if (frame->rsi) {
		process->actions[signal - 1] = action;
		if (ignored(process, signal))
			process->pending &= ~BIT(signal);
		/* So that what is ignored here interrupts nothing there. */
		channel_notice(LWK_CALL_SIGNAL_ACTION, signal, MIN(action.handler, 2));
	}
	return 0;
}

s64 sys_rt_sigprocmask(struct frame *frame)
{
	struct process *process = this_process();
	u64 set, old = process->blocked;

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
		process->blocked = set & ~UNBLOCKABLE;
	}
	if (frame->rdx && copy_to_user(frame->rdx, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

s64 sys_rt_sigpending(struct frame *frame)
{
	struct process *process = this_process();
	u64 pending;

	if (frame->rsi > sizeof(u64))
		return -EINVAL;
	signal_collect(process);
	pending = process->pending & process->blocked;
	return copy_to_user(frame->rdi, &pending, frame->rsi);
}

static bool signal_or_order(void)
{
	struct cpu *cpu = this_cpu();

	return READ_ONCE(cpu->channel->signals) || !channel_ordered() ||
	       READ_ONCE(cpu->control->fault_state) == LWK_FAULT_ASKED;
}

static s64 wait_for_signal(struct process *process)
{
	account(LWK_CPU_WAITING);
	while (signal_collect(process), !signal_effective(process)) {
		cpu_sleep(signal_or_order);
		if (!channel_ordered())
			process_abandon();
		channel_serve_fault();
	}
	account(LWK_CPU_USER);
	return -EINTR;
}

s64 sys_rt_sigsuspend(struct frame *frame)
{
	struct process *process = this_process();
	u64 mask;

	if (frame->rsi != sizeof(u64))
		return -EINVAL;
	if (copy_from_user(&mask, frame->rdi, sizeof(mask)))
		return -EFAULT;
	process->suspended_mask = process->blocked;
	process->suspended = true;
	process->blocked = mask & ~UNBLOCKABLE;
	return wait_for_signal(process);
}

s64 sys_pause(struct frame *frame)
{
	return wait_for_signal(this_process());
}

s64 sys_sigaltstack(struct frame *frame)
{
	struct process *process = this_process();
	struct sigstack stack, old = process->altstack;
	bool in_use = on_altstack(process, frame->rsp);

	if (in_use)
		old.flags |= SS_ONSTACK;
	if (frame->rdi) {
		if (copy_from_user(&stack, frame->rdi, sizeof(stack)))
			return -EFAULT;
		if (in_use)
			return -EPERM;
		if (stack.flags & ~(SS_DISABLE | SS_ONSTACK))
			return -EINVAL;
		if (!(stack.flags & SS_DISABLE) && stack.size < MINSIGSTKSZ)
			return -ENOMEM;
		if (!(stack.flags & SS_DISABLE) &&
		    (stack.sp > LWK_USER_END || stack.size > LWK_USER_END - stack.sp))
			return -EFAULT;
		stack.flags &= SS_DISABLE;
	}
	if (frame->rsi && copy_to_user(frame->rsi, &old, sizeof(old)))
		return -EFAULT;
	if (frame->rdi)
		process->altstack = stack;
	return 0;
}

/* Linux stops the proxy then, and with it us. */
static bool stops(const struct process *process, u64 signal)
{
	u64 bit = signal ? BIT(signal) : 0;

	return bit & STOPS_BY_DEFAULT && !(bit & process->blocked) &&
	       process->actions[signal - 1].handler == SIG_DFL;
}

/* To itself: here and now. To others: Linux knows them. */
static s64 send_signal(struct frame *frame, u64 nr, u64 target, u64 signal)
{
	struct process *process = this_process();
	u64 args[6] = { frame->rdi, frame->rsi, frame->rdx };

	if ((u32)target != process->pid) {
		this_cpu()->status->delegated_calls[LWK_CALLS_PROCESS]++;
		return channel_request(nr, args);
	}
	if (signal > SIGNALS)
		return -EINVAL;
	if (stops(process, signal)) {
		this_cpu()->status->delegated_calls[LWK_CALLS_PROCESS]++;
		return channel_request(nr, args);
	}
	if (signal)
		process->pending |= BIT(signal);
	return 0;
}

s64 sys_kill(struct frame *frame)
{
	return send_signal(frame, frame->error, frame->rdi, frame->rsi);
}

s64 sys_tkill(struct frame *frame)
{
	return send_signal(frame, frame->error, frame->rdi, frame->rsi);
}

s64 sys_tgkill(struct frame *frame)
{
	return send_signal(frame, frame->error, frame->rsi, frame->rdx);
}
