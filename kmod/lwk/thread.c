/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads beyond a process's first. Each has a slot, on a CPU of its own if there is one, which the
 * process asks its proxy for and then keeps: a thread that ends leaves its slot parked, for the next one.
 */
#include "lwk.h"

/* Threads share all of this here; and more than these flags there is not. */
#define CLONE_NEEDED                                                                               \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)
#define CLONE_KNOWN                                                                                \
	(CLONE_NEEDED | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |                \
	 CLONE_DETACHED | CLONE_CHILD_SETTID)

void thread_init(struct thread *thread, u32 tid)
{
	memset(thread, 0, sizeof(*thread));
	thread->tid = tid;
	thread->altstack.flags = SS_DISABLE;
}

void thread_join(void)
{
	struct cpu *cpu = this_cpu();
	struct process *process = &cpu_at(READ_ONCE(cpu->control->leader))->own;

	channel_reset();
	thread_init(&cpu->thread, READ_ONCE(cpu->control->pid));
	cpu->thread.blocked = ~0UL;
	cpu->start.ready = 0;
	cpu->running = false;
	STORE_RELEASE(cpu->process, process);
	__atomic_add_fetch(&process->n_cpus, 1, __ATOMIC_SEQ_CST);
	cpu->core->n_busy++;
	cpu->core->tlb_seen = LOAD_ACQUIRE(process->space.tlb_generation);
	space_activate(&process->space);
	account(LWK_CPU_LOADING);
	STORE_RELEASE(cpu->parked, 1);
	STORE_RELEASE(cpu->control->obeyed, LWK_ORDER_THREAD);
	thread_park();
}

static bool start_or_order(const struct cpu *cpu)
{
	return LOAD_ACQUIRE(cpu->start.ready) || !channel_ordered(cpu) || signal_comes(cpu) ||
	       channel_fault_waits(cpu);
}

void thread_run(void)
{
	struct cpu *cpu = this_cpu();
	struct frame frame = cpu->start.frame;

	cpu->start.ready = 0;
	cpu->start_tsc = rdtsc();
	WRITE_ONCE(cpu->running, true);
	fpu_load(cpu->fpu_area);
	write_msr(MSR_FS_BASE, cpu->start.fs_base);
	write_msr(MSR_KERNEL_GS_BASE, cpu->start.gs_base);
	account(LWK_CPU_USER);
	before_user(&frame);
	leave_kernel();
	enter_user(&frame);
}

void thread_park(void)
{
	struct cpu *cpu = this_cpu();
	u32 signals;

	account(LWK_CPU_LOADING);
	while (signals = LOAD_ACQUIRE(cpu->channel->signals.head),
	       !LOAD_ACQUIRE(cpu->start.ready)) {
		if (!channel_ordered(cpu))
			process_abandon();
		channel_serve_fault();
		/* For the process: somebody else takes it. */
		signal_collect_late(signals);
		cpu_sleep(start_or_order);
	}
	signal_collect_late(cpu->start.signals);
	thread_run();
}

/* How many threads its CPU has that run or wait. */
static u32 neighbours(const struct cpu *cpu)
{
	u32 n = 0;

	for (const struct cpu *other = cpu->next; other != cpu; other = other->next)
		n += LOAD_ACQUIRE(other->process) && !READ_ONCE(other->parked);
	return n;
}

/* That of the process's parked slots with the fewest, or NULL. */
static struct cpu *find_parked(const struct process *process)
{
	struct cpu *found = NULL;

	for (u32 i = 0; i < boot->n_slots; i++) {
		struct cpu *cpu = cpu_at(i);

		if (LOAD_ACQUIRE(cpu->process) == process && LOAD_ACQUIRE(cpu->parked) &&
		    (!found || neighbours(cpu) < neighbours(found)))
			found = cpu;
	}
	return found;
}

/* It is then the caller's to use. */
static struct cpu *claim_parked(const struct process *process)
{
	struct cpu *cpu;
	u32 parked = 1;

	while ((cpu = find_parked(process)) &&
	       !__atomic_compare_exchange_n(&cpu->parked, &parked, 0, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		parked = 1;
	return cpu;
}

static struct cpu *cpu_for_thread(const struct process *process)
{
	static const u64 none[6];
	struct cpu *cpu;
	s64 error;

	while (!(cpu = claim_parked(process))) {
		error = channel_request(LWK_CALL_THREAD, none);
		this_cpu()->status->delegated_calls[LWK_CALLS_PROCESS]++;
		if (!error)
			continue;
		if (error == -EAGAIN)
			print("pid %u: no thread more than its %u: each of its CPUs has all %u that it can have, or Linux has a limit; start fewer, or ask for more CPUs",
			      process->pid, process->n_threads, boot->n_slots / boot->n_cpus);
		else
			print("pid %u: no thread more than its %u: its proxy cannot have one (error %lld)",
			      process->pid, process->n_threads, -error);
		return NULL;
	}
	return cpu;
}

/* As on Linux, who gives no good address learns nothing. */
static void tell_tid(const struct frame *frame, u32 tid)
{
	if (frame->rdi & CLONE_PARENT_SETTID)
		copy_to_user(frame->rdx, &tid, sizeof(tid));
	if (frame->rdi & CLONE_CHILD_SETTID)
		copy_to_user(frame->r10, &tid, sizeof(tid));
}

/* clone(flags, stack, parent's tid, child's tid, thread-local storage) */
s64 sys_clone(struct frame *frame)
{
	struct process *process = this_process();
	u64 flags = frame->rdi;
	struct cpu *cpu;
	u32 tid;

	if (!(flags & CLONE_THREAD))
		return fork_clone(frame);
	if ((flags & CLONE_NEEDED) != CLONE_NEEDED || flags & ~CLONE_KNOWN) {
		print("pid %u: clone with flags %llx: this LWK has no such threads", process->pid,
		      flags);
		return -ENOSYS;
	}
	if (!frame->rsi || frame->rsi >= LWK_USER_END)
		return -EINVAL;
	if (flags & CLONE_SETTLS && frame->r8 >= LWK_USER_END)
		return -EPERM;
	cpu = cpu_for_thread(process);
	if (!cpu)
		return -EAGAIN;
	tid = cpu->thread.tid;
	tell_tid(frame, tid);
	thread_init(&cpu->thread, tid);
	cpu->thread.blocked = this_thread()->blocked;
	cpu->thread.policy = this_thread()->policy;
	cpu->thread.clear_tid = flags & CLONE_CHILD_CLEARTID ? frame->r10 : 0;
	cpu->start.frame = *frame;
	cpu->start.frame.rax = 0;
	cpu->start.frame.rsp = frame->rsi;
	cpu->start.fs_base = flags & CLONE_SETTLS ? frame->r8 : read_msr(MSR_FS_BASE);
	cpu->start.gs_base = read_msr(MSR_KERNEL_GS_BASE);
	fpu_save(cpu->fpu_area);
	cpu->start.signals = LOAD_ACQUIRE(cpu->channel->signals.head);
	__atomic_add_fetch(&process->n_threads, 1, __ATOMIC_ACQ_REL);
	STORE_RELEASE(cpu->start.ready, 1);
	cpu_wake(cpu);
	return tid;
}

s64 sys_exit(struct frame *frame)
{
	struct cpu *cpu = this_cpu();
	struct process *process = cpu->process;
	struct thread thread = cpu->thread;
	u32 zero = 0;

	pending_drop(&cpu->thread.pending, ~0UL);
	if (__atomic_sub_fetch(&process->n_threads, 1, __ATOMIC_ACQ_REL) == 0)
		process_exit((frame->rdi & 0xff) << 8);
	__atomic_add_fetch(&process->past_cycles, rdtsc() - cpu->start_tsc, __ATOMIC_RELAXED);
	WRITE_ONCE(cpu->running, false);
	cpu->thread.blocked = ~0UL;
	futex_release_robust(&thread);
	/* Who waits for our end may start a thread at once, so the CPU comes first. */
	if (cpu != process->first)
		STORE_RELEASE(cpu->parked, 1);
	if (thread.clear_tid && !copy_to_user(thread.clear_tid, &zero, sizeof(zero)))
		futex_wake(thread.clear_tid, 1, ~0U);
	restart_cpu();
}

s64 sys_set_tid_address(struct frame *frame)
{
	struct thread *thread = this_thread();

	thread->clear_tid = frame->rdi;
	return thread->tid;
}

#define ROBUST_HEAD_BYTES 24

s64 sys_set_robust_list(struct frame *frame)
{
	if (frame->rsi != ROBUST_HEAD_BYTES)
		return -EINVAL;
	this_thread()->robust_list = frame->rdi;
	return 0;
}
