/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals. What others send reaches the proxy, which passes it on in the channel, with what Linux
 * tells of it; what the process sends to itself and its own faults stay here. The frame on a handler's
 * stack is Linux's, because glibc's restorer, unwinders and handlers look into it.
 */
#include <asm/unistd.h>

#include "lwk/lwk.h"

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_SIGINFO 4UL
#define SA_ONSTACK 0x08000000UL
#define SA_RESTART 0x10000000UL
#define SA_NODEFER 0x40000000UL
#define SA_RESETHAND 0x80000000UL
#define SA_RESTORER 0x04000000UL

#define MINSIGSTKSZ 2048

#define BIT(signal) SIGNAL_BIT(signal)
#define UNBLOCKABLE SIGNALS_UNBLOCKABLE
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

/* What tells something is as Linux has it, and the rest is 0. */
struct siginfo {
	struct lwk_signal signal;
	u64 rest[10];
};

struct signal_frame {
	u64 restorer;
	struct ucontext context;
	struct siginfo info;
};
_Static_assert(sizeof(struct sigcontext) == 256, "as Linux's");
_Static_assert(sizeof(struct siginfo) == 128, "as Linux's");

#define RED_ZONE 128

/* The tid of another thread that takes the signal, or 0. */
static u32 other_taker(const struct process *process, int signal)
{
	for (u32 i = 0; i < boot->n_slots; i++) {
		const struct slot *slot = slot_at(i);

		if (slot != this_slot() && LOAD_ACQUIRE(slot->process) == process &&
		    !(READ_ONCE(slot->thread.blocked) & BIT(signal)))
			return slot->thread.tid;
	}
	return 0;
}

/*
 * For the process, of whose threads this one may block it: then another one gets it, by way of Linux,
 * so that a call ends that it waits in there.
 */
static s64 add_to_process(const struct lwk_signal *signal)
{
	struct process *process = this_process();
	struct lwk_signal to_other = *signal;

	if (this_thread()->blocked & BIT(signal->signal) && READ_ONCE(process->n_slots) > 1) {
		to_other.thread = other_taker(process, signal->signal);
		if (to_other.thread && channel_send_signal(&to_other) == 0)
			return 0;
	}
	return pending_add(&process->pending, signal);
}

/* Linux has no way to take back what it has given its proxy. Once is enough for who sends many. */
static void tell_lost(int signal)
{
	struct process *process = this_process();

	if (!__atomic_exchange_n(&process->lost_signals, 1, __ATOMIC_RELAXED))
		print("pid %u: a signal %d is lost, and more may be: as many as can wait for it to take them",
		      process->pid, signal);
}

static void collect(u32 end, bool late)
{
	const struct lwk_channel *channel = this_slot()->channel;
	struct lwk_signal signal;
	s64 error;

	while (this_slot()->signals_taken != end && channel_take_signal(&signal)) {
		if (signal.signal < 1 || signal.signal > SIGNALS || (signal.thread && late))
			continue;
		error = signal.thread ? pending_add(&this_thread()->pending, &signal)
				      : add_to_process(&signal);
		if (error)
			tell_lost(signal.signal);
	}
	if (READ_ONCE(channel->signals.held))
		channel_notice(LWK_CALL_SIGNALS_TAKEN, 0, 0);
}

void signal_collect(void)
{
	struct slot *slot = this_slot();

	if (signal_comes(slot))
		collect(LOAD_ACQUIRE(slot->channel->signals.head), false);
}

void signal_collect_late(u32 end)
{
	struct slot *slot = this_slot();

	/* Some may have been taken before 'end' was looked at. */
	if (signal_comes(slot) && end - slot->signals_taken <= LWK_SIGNAL_SLOTS)
		collect(end, true);
}

/* Those that wait for this thread or for any. */
static u64 all_pending(void)
{
	return READ_ONCE(this_thread()->pending.set) | READ_ONCE(this_process()->pending.set);
}

/* True when it was pending: it is the caller's now. */
static bool take(int signal, struct lwk_signal *taken)
{
	return pending_take(&this_thread()->pending, signal, taken) ||
	       pending_take(&this_process()->pending, signal, taken);
}

void signal_hand_down(void)
{
	struct lwk_signal signal;

	for (int s = 1; s <= SIGNALS; s++) {
		while (take(s, &signal)) {
			signal.thread = this_thread()->tid;
			channel_send_signal(&signal);
		}
	}
}

static bool ignored(const struct process *process, int signal)
{
	u64 handler = process->actions[signal - 1].handler;

	return handler == SIG_IGN || (handler == SIG_DFL && BIT(signal) & IGNORED_BY_DEFAULT);
}

bool signal_waiting(void)
{
	return all_pending() & ~this_thread()->blocked;
}

bool signal_effective(void)
{
	const struct process *process = this_process();
	u64 waiting = all_pending() & ~this_thread()->blocked;

	for (int s = 1; waiting && s <= SIGNALS; s++)
		if (waiting & BIT(s) && !ignored(process, s))
			return true;
	return false;
}

static bool on_altstack(const struct thread *thread, u64 rsp)
{
	return !(thread->altstack.flags & SS_DISABLE) && rsp > thread->altstack.sp &&
	       rsp - thread->altstack.sp <= thread->altstack.size;
}

/* Copies the floating-point state out to the process, or in; 0 or -EFAULT. */
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
	fpu_load(area);
	return 0;
}

/* Builds the handler's frame. 0, or -EFAULT when the stack has no room. */
static int push_handler(struct frame *frame, const struct lwk_signal *signal, u64 old_mask,
			const struct sigaction *action)
{
	const struct thread *thread = this_thread();
	struct signal_frame sf = { .restorer = action->restorer, .info = { .signal = *signal } };
	u64 sp = frame->rsp - RED_ZONE, fpstate;

	if (action->flags & SA_ONSTACK && !(thread->altstack.flags & SS_DISABLE) &&
	    !on_altstack(thread, frame->rsp))
		sp = thread->altstack.sp + thread->altstack.size;
	if (sp > LWK_USER_END || sp < LWK_USER_START + fpu_size() + sizeof(sf) + PAGE_SIZE)
		return -EFAULT;
	fpstate = ALIGN_DOWN(sp - fpu_size(), 64);
	/* As after a call: the stack is 8 below a multiple of 16. */
	sp = ALIGN_DOWN(fpstate - sizeof(sf), 16) - 8;

	sf.context = (struct ucontext){
		.flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
		.stack = thread->altstack,
		.mask = old_mask,
		.context = {
			.r8 = frame->r8, .r9 = frame->r9, .r10 = frame->r10, .r11 = frame->r11,
			.r12 = frame->r12, .r13 = frame->r13, .r14 = frame->r14,
			.r15 = frame->r15, .rdi = frame->rdi, .rsi = frame->rsi,
			.rbp = frame->rbp, .rbx = frame->rbx, .rdx = frame->rdx,
			.rax = frame->rax, .rcx = frame->rcx, .rsp = frame->rsp,
			.rip = frame->rip, .rflags = frame->rflags, .cs = USER_CS, .ss = USER_DS,
			.error = frame->error, .trap = frame->vector,
			.cr2 = signal->field[0], .fpstate = fpstate, .old_mask = old_mask,
		},
	};
	if (fpu_to_user(fpstate) || copy_to_user(sp, &sf, sizeof(sf)))
		return -EFAULT;

	frame->rsp = sp;
	frame->rip = action->handler;
	frame->rdi = signal->signal;
	frame->rsi = sp + offsetof(struct signal_frame, info);
	frame->rdx = sp + offsetof(struct signal_frame, context);
	frame->rax = 0;
	frame->rflags &= ~(RFLAGS_DF | RFLAGS_RF | RFLAGS_TF);
	return 0;
}

/* Runs the handler, or ends the process. */
static void act(struct frame *frame, const struct lwk_signal *taken, u64 old_mask)
{
	struct process *process = this_process();
	struct thread *thread = this_thread();
	struct sigaction action;
	int signal = taken->signal;

	spin_lock(&process->action_lock);
	action = process->actions[signal - 1];
	if (action.flags & SA_RESETHAND)
		process->actions[signal - 1].handler = SIG_DFL;
	spin_unlock(&process->action_lock);
	if (action.handler > SIG_IGN && action.flags & SA_RESETHAND)
		channel_notice(LWK_CALL_SIGNAL_ACTION, signal, SIG_DFL);
	if (action.handler == SIG_IGN)
		return; /* since just now: another thread says so */
	if (action.handler == SIG_DFL || push_handler(frame, taken, old_mask, &action)) {
		if (action.handler == SIG_DFL)
			process_exit(signal);
		if (signal != SIGSEGV) {
			signal_fault(frame, SIGSEGV, SI_KERNEL, 0);
			return;
		}
		print("pid %u: no room on its stack for signal %d", process->pid, signal);
		process_exit(SIGSEGV);
	}
	thread->blocked |= action.mask;
	if (!(action.flags & SA_NODEFER))
		thread->blocked |= BIT(signal);
	thread->blocked &= ~UNBLOCKABLE;
}

void signal_fault(struct frame *frame, int signal, int code, u64 addr)
{
	struct process *process = this_process();
	struct thread *thread = this_thread();
	struct sigaction *action = &process->actions[signal - 1];
	struct lwk_signal fault = { .signal = signal, .code = code, .field = { addr } };

	if (action->handler <= SIG_IGN || thread->blocked & BIT(signal)) {
		action->handler = SIG_DFL;
		print("pid %u: signal %d at %llx, address %llx, stack %llx", process->pid, signal,
		      frame->rip, addr, frame->rsp);
	}
	act(frame, &fault, thread->blocked);
}

static void restart_call(struct frame *frame)
{
	frame->rip -= 2; /* the length of SYSCALL */
	frame->rax = frame->error;
}

void signal_deliver(struct frame *frame)
{
	struct process *process = this_process();
	struct thread *thread = this_thread();
	bool interrupted = thread->interrupted;
	u64 waiting, old_mask = thread->suspended ? thread->suspended_mask : thread->blocked;

	thread->interrupted = false;
	while ((waiting = all_pending() & ~thread->blocked)) {
		int signal = __builtin_ctzl(waiting) + 1;
		struct lwk_signal taken;

		if (!take(signal, &taken) || ignored(process, signal))
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
		thread->blocked = thread->suspended_mask;
	thread->suspended = false;
	if (interrupted)
		restart_call(frame);
}

s64 signal_return(struct frame *frame)
{
	struct process *process = this_process();
	struct thread *thread = this_thread();
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
	thread->blocked = uc.mask & ~UNBLOCKABLE;
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
	spin_lock(&process->action_lock);
	old = process->actions[signal - 1];
	spin_unlock(&process->action_lock);
	if (frame->rdx && copy_to_user(frame->rdx, &old, sizeof(old)))
		return -EFAULT;
	if (frame->rsi) {
		spin_lock(&process->action_lock);
		process->actions[signal - 1] = action;
		spin_unlock(&process->action_lock);
		if (ignored(process, signal)) {
			pending_drop(&this_thread()->pending, BIT(signal));
			pending_drop(&process->pending, BIT(signal));
		}
		/* So that what is ignored here interrupts nothing there. */
		if (MIN(action.handler, 2) != MIN(old.handler, 2)) {
			__atomic_and_fetch(&process->told, ~BIT(signal), __ATOMIC_ACQ_REL);
			channel_notice(LWK_CALL_SIGNAL_ACTION, signal, MIN(action.handler, 2));
			signal_want_told(BIT(signal) & this_thread()->blocked);
		}
	}
	return 0;
}

/*
 * To ignore these means more than that: Linux looks at the proxy's action for terminals, and for children
 * that nobody waits for.
 */
static bool action_counts(const struct process *process, int signal)
{
	return BIT(signal) & (STOPS_BY_DEFAULT | BIT(SIGCONT)) ||
	       (signal == SIGCHLD && process->actions[signal - 1].handler == SIG_IGN);
}

void signal_want_told(u64 blocked)
{
	struct process *process = this_process();
	u64 want = blocked & ~UNBLOCKABLE & ~READ_ONCE(process->told);

	for (; want; want &= want - 1) {
		int s = __builtin_ctzl(want) + 1;

		if (!ignored(process, s) || action_counts(process, s) ||
		    __atomic_fetch_or(&process->told, BIT(s), __ATOMIC_ACQ_REL) & BIT(s))
			continue;
		channel_notice(LWK_CALL_SIGNAL_ACTION, s,
			       process->actions[s - 1].handler == SIG_IGN ? 3 : 2);
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
		thread->blocked = set & ~UNBLOCKABLE;
		if (set & ~old)
			signal_want_told(set);
	}
	if (frame->rdx && copy_to_user(frame->rdx, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

s64 sys_rt_sigpending(struct frame *frame)
{
	u64 pending;

	if (frame->rsi > sizeof(u64))
		return -EINVAL;
	signal_collect();
	pending = all_pending() & this_thread()->blocked;
	return copy_to_user(frame->rdi, &pending, frame->rsi);
}

static bool signal_or_order(const struct slot *slot)
{
	return signal_comes(slot) || READ_ONCE(slot->process->ending) || !channel_ordered(slot) ||
	       channel_fault_waits(slot);
}

static s64 wait_for_signal(void)
{
	account(LWK_CPU_WAITING);
	while (signal_collect(), !signal_effective()) {
		slot_sleep(signal_or_order);
		if (!channel_ordered(this_slot()) || READ_ONCE(this_process()->ending))
			process_abandon();
		channel_serve_fault();
	}
	account(LWK_CPU_USER);
	return -EINTR;
}

/* One of 'set' that was pending, and is the caller's now; or 0. */
static int take_one(u64 set, struct lwk_signal *taken)
{
	u64 pending = all_pending() & set;

	for (int s = 1; pending && s <= SIGNALS; s++)
		if (pending & BIT(s) && take(s, taken))
			return s;
	return 0;
}

/* One of 'set'; -EINTR: another one comes first; -EAGAIN: none until the deadline. */
static s64 await_one(u64 set, u64 deadline, struct lwk_signal *taken)
{
	int signal;

	while (signal_collect(), !(signal = take_one(set, taken))) {
		u64 now = deadline == NO_DEADLINE ? 0 : clock_monotonic();

		if (signal_effective())
			return -EINTR;
		if (deadline != NO_DEADLINE && now >= deadline)
			return -EAGAIN;
		slot_sleep_until(signal_or_order, deadline);
		if (!channel_ordered(this_slot()) || READ_ONCE(this_process()->ending))
			process_abandon();
		channel_serve_fault();
	}
	return signal;
}

/* 0, -EFAULT, -EINVAL */
static s64 read_timeout(u64 addr, u64 *deadline)
{
	s64 error = addr ? clock_read_time(addr, deadline) : 0;

	if (!addr || __builtin_add_overflow(*deadline, clock_monotonic(), deadline))
		*deadline = NO_DEADLINE;
	return error;
}

s64 sys_rt_sigtimedwait(struct frame *frame)
{
	struct thread *thread = this_thread();
	struct siginfo info = { 0 };
	u64 set, deadline, blocked = thread->blocked;
	s64 result;

	if (frame->r10 != sizeof(u64))
		return -EINVAL;
	if (copy_from_user(&set, frame->rdi, sizeof(set)))
		return -EFAULT;
	result = read_timeout(frame->rdx, &deadline);
	if (result)
		return result;
	set &= ~UNBLOCKABLE;
	signal_want_told(set);
	/* For other threads, which look for one that takes a signal. */
	WRITE_ONCE(thread->blocked, blocked & ~set);
	account(LWK_CPU_WAITING);
	result = await_one(set, deadline, &info.signal);
	account(LWK_CPU_USER);
	WRITE_ONCE(thread->blocked, blocked);
	if (result <= 0)
		return result;
	return frame->rsi && copy_to_user(frame->rsi, &info, sizeof(info)) ? -EFAULT : result;
}

void signal_suspend(u64 mask)
{
	struct thread *thread = this_thread();

	thread->suspended_mask = thread->blocked;
	thread->suspended = true;
	WRITE_ONCE(thread->blocked, mask & ~UNBLOCKABLE);
	signal_collect();
}

void signal_unsuspend(void)
{
	struct thread *thread = this_thread();

	WRITE_ONCE(thread->blocked, thread->suspended_mask);
	thread->suspended = false;
}

s64 sys_rt_sigsuspend(struct frame *frame)
{
	u64 mask;

	if (frame->rsi != sizeof(u64))
		return -EINVAL;
	if (copy_from_user(&mask, frame->rdi, sizeof(mask)))
		return -EFAULT;
	signal_suspend(mask);
	return wait_for_signal();
}

s64 sys_pause(struct frame *frame)
{
	return wait_for_signal();
}

s64 sys_sigaltstack(struct frame *frame)
{
	struct thread *thread = this_thread();
	struct sigstack stack, old = thread->altstack;
	bool in_use = on_altstack(thread, frame->rsp);

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
		thread->altstack = stack;
	return 0;
}

/* Linux stops the proxy then, and with it us. */
static bool stops(u64 signal)
{
	u64 bit = signal ? BIT(signal) : 0;

	return bit & STOPS_BY_DEFAULT && !(bit & this_thread()->blocked) &&
	       this_process()->actions[signal - 1].handler == SIG_DFL;
}

static s64 send_by_linux(struct frame *frame)
{
	u64 args[6] = { frame->rdi, frame->rsi, frame->rdx, frame->r10 };
	s64 result;

	this_slot()->status->delegated_calls[LWK_CALLS_PROCESS]++;
	/* The proxy makes no call as long as a signal waits to be collected. */
	while ((result = channel_request(frame->error, args)) == -EINTR)
		signal_collect();
	return result;
}

/* From itself, as kill(2) and tkill(2) have it. */
static struct lwk_signal own_signal(u64 signal, int code)
{
	const struct process *process = this_process();

	return (struct lwk_signal){ .signal = signal,
				    .code = code,
				    .field = { process->pid | (u64)process->uid << 32 } };
}

/* To this thread, or to its process when this thread would take it: here and now. */
static s64 send_here(struct frame *frame, struct pending *pending, u64 signal, int code)
{
	struct lwk_signal sent = own_signal(signal, code);

	if (signal > SIGNALS)
		return -EINVAL;
	if (stops(signal))
		return send_by_linux(frame);
	return signal ? pending_add(pending, &sent) : 0;
}

/* Linux knows the others, and the threads of this process by those of the proxy. */
s64 sys_kill(struct frame *frame)
{
	struct process *process = this_process();
	u64 signal = frame->rsi;
	bool blocked = signal - 1 < SIGNALS && this_thread()->blocked & BIT(signal);

	if ((u32)frame->rdi != process->pid || (READ_ONCE(process->n_slots) > 1 && blocked))
		return send_by_linux(frame);
	return send_here(frame, &process->pending, signal, SI_USER);
}

s64 sys_tkill(struct frame *frame)
{
	struct thread *thread = this_thread();

	if ((u32)frame->rdi != thread->tid)
		return send_by_linux(frame);
	return send_here(frame, &thread->pending, frame->rsi, SI_TKILL);
}

s64 sys_tgkill(struct frame *frame)
{
	struct thread *thread = this_thread();

	if ((u32)frame->rdi != this_process()->pid || (u32)frame->rsi != thread->tid)
		return send_by_linux(frame);
	return send_here(frame, &thread->pending, frame->rdx, SI_TKILL);
}

/* To itself: what a program says of a signal is its own to choose. */
static s64 queue_here(struct frame *frame, bool for_thread, u64 signal, u64 address)
{
	struct lwk_signal sent;

	if (copy_from_user(&sent, address, sizeof(sent)))
		return -EFAULT;
	if (signal > SIGNALS)
		return -EINVAL;
	if (stops(signal))
		return send_by_linux(frame);
	sent.signal = signal;
	if (!signal)
		return 0;
	return for_thread ? pending_add(&this_thread()->pending, &sent) : add_to_process(&sent);
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

/* Linux counts until the proxy has the signal, and we go on until the program has it. */
s64 sys_timer_getoverrun(struct frame *frame)
{
	u64 taken = READ_ONCE(this_process()->taken_timer), args[6] = { frame->rdi };
	s64 overruns;

	this_slot()->status->delegated_calls[LWK_CALLS_TIME]++;
	while ((overruns = channel_request(__NR_timer_getoverrun, args)) == -EINTR)
		signal_collect();
	return overruns >= 0 && (u32)taken == (u32)frame->rdi + 1 ? (s64)(taken >> 32) : overruns;
}
