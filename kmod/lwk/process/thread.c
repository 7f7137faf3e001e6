/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads beyond a process's first. Each has a slot, on a CPU of its own if there is one when it
 * begins. The process asks its proxy for the slot and keeps it: a thread that ends leaves its slot
 * parked, for the next one. The proxy may send a slot at any time, also while the process gets its
 * memory or lends it, so the slot has none before its first thread begins.
 */
#include "lwk/process/thread.h"

#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/signal.h>

#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwk/base/string.h"
#include "lwk/calls/local.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/entry.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/trap.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/user.h"
#include "lwk/process/affinity.h"
#include "lwk/process/fork.h"
#include "lwk/process/futex.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"

/* Threads of this LWK share all of these, and the undoing of semaphores; others are refused. */
#define CLONE_NEEDED (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define CLONE_KNOWN                                                                                \
	(CLONE_NEEDED | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |                       \
	 CLONE_CHILD_CLEARTID | CLONE_DETACHED | CLONE_CHILD_SETTID | CSIGNAL)

void thread_init(struct thread *thread, u32 tid)
{
	memset(thread, 0, sizeof(*thread));
	thread->tid = tid;
	thread->altstack.ss_flags = SS_DISABLE;
}

void thread_start_store(struct slot *slot, struct thread_start *start, const struct frame *frame,
			u64 flags, u64 stack)
{
	start->frame = *frame;
	start->frame.rax = 0;
	if (stack)
		start->frame.rsp = stack;
	start->fs_base = flags & CLONE_SETTLS ? frame->r8 : read_msr(MSR_FS_BASE);
	start->gs_base = read_msr(MSR_KERNEL_GS_BASE);
	start->clear_tid = flags & CLONE_CHILD_CLEARTID ? frame->r10 : 0;
	fpu_save(slot->fpu_area);
}

void thread_join(void)
{
	struct slot *slot = this_slot();
	struct process *process = &slot_at(READ_ONCE(slot->control->leader))->own;

	channel_reset();
	thread_init(&slot->thread, READ_ONCE(slot->control->pid));
	slot->thread.blocked = ~0UL;
	slot->start.ready = 0;
	slot->held = 0;
	slot->running = false;
	STORE_RELEASE(slot->process, process);
	__atomic_add_fetch(&process->n_slots, 1, __ATOMIC_SEQ_CST);
	slot->cpu->n_busy++;
	account(LWK_CPU_LOADING);
	STORE_RELEASE(slot->parked, 1);
	STORE_RELEASE(slot->control->obeyed, LWK_ORDER_THREAD);
	thread_park();
}

static bool start_or_signal(const struct slot *slot)
{
	return LOAD_ACQUIRE(slot->start.ready) || signal_comes(slot);
}

void thread_run(void)
{
	struct slot *slot = this_slot();
	struct frame frame = slot->start.frame;

	slot->start.ready = 0;
	if (!space_is_active())
		space_activate(&slot->process->space);
	cpu_time_begin(slot);
	fpu_load(slot->fpu_area);
	write_msr(MSR_FS_BASE, slot->start.fs_base);
	write_msr(MSR_KERNEL_GS_BASE, slot->start.gs_base);
	account(LWK_CPU_USER);
	signal_hold();
	before_user(&frame);
	leave_kernel();
	enter_user(&frame);
}

void thread_park(void)
{
	struct slot *slot = this_slot();
	u32 signals;

	account(LWK_CPU_LOADING);
	signal_hold();
	while (signals = LOAD_ACQUIRE(slot->channel->signals.head),
	       !LOAD_ACQUIRE(slot->start.ready)) {
		if (!channel_ordered(slot))
			process_abandon();
		channel_serve_fault();
		/* A signal for the process goes to another thread. */
		signal_collect_late(signals);
		slot_sleep(start_or_signal);
	}
	signal_collect_late(slot->start.signals);
	thread_run();
}

struct slot *thread_find(u32 tid)
{
	for (u32 i = boot->n_cpus; i < boot->n_slots; i++) {
		struct slot *slot = slot_at(i);

		if (LOAD_ACQUIRE(slot->process) && !READ_ONCE(slot->parked) &&
		    READ_ONCE(slot->thread.tid) == tid)
			return slot;
	}
	return NULL;
}

/* Takes a parked slot of the process for the caller, if there is one. */
static struct slot *claim_parked(const struct process *process)
{
	for (u32 i = boot->n_cpus; i < boot->n_slots; i++) {
		struct slot *slot = slot_at(i);
		u32 parked = 1;

		if (LOAD_ACQUIRE(slot->process) == process &&
		    __atomic_compare_exchange_n(&slot->parked, &parked, 0, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return slot;
	}
	return NULL;
}

static struct slot *slot_for_thread(const struct process *process)
{
	struct slot *slot;
	s64 error;

	while (!(slot = claim_parked(process))) {
		error = channel_call(PROCESS, LWK_CALL_THREAD, 0);
		if (!error)
			continue;
		if (error == -EAGAIN)
			print("pid %u: no more threads than its %u: the LWK has memory for %u threads in all, or Linux has a limit; start fewer, or ask for more memory",
			      process->pid, process->n_threads, boot->n_slots - boot->n_cpus);
		else
			print("pid %u: no more threads than its %u: its proxy cannot make one (error %lld)",
			      process->pid, process->n_threads, -error);
		return NULL;
	}
	return slot;
}

/* Writes the thread's id where clone() asks for it. As on Linux, a bad address is no error. */
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
	struct cpu_set cpus;
	struct slot *slot;
	u32 tid;

	if (!(flags & CLONE_THREAD))
		return fork_clone(frame);
	if ((flags & CLONE_NEEDED) != CLONE_NEEDED || flags & ~CLONE_KNOWN) {
		print("pid %u: clone with flags %llx: expected the flags of a POSIX thread",
		      process->pid, flags);
		return -ENOSYS;
	}
	if (!frame->rsi || frame->rsi >= LWK_USER_END)
		return -EINVAL;
	if (flags & CLONE_SETTLS && frame->r8 >= LWK_USER_END)
		return -EPERM;
	slot = slot_for_thread(process);
	if (!slot)
		return -EAGAIN;
	tid = slot->thread.tid;
	tell_tid(frame, tid);
	thread_init(&slot->thread, tid);
	slot->thread.blocked = this_thread()->blocked;
	slot->thread.policy = this_thread()->policy;
	cpus = affinity_of(this_slot());
	affinity_begin(slot, &cpus);
	thread_start_store(slot, &slot->start, frame, flags, frame->rsi);
	slot->thread.clear_tid = slot->start.clear_tid;
	slot->start.signals = LOAD_ACQUIRE(slot->channel->signals.head);
	__atomic_add_fetch(&process->n_threads, 1, __ATOMIC_ACQ_REL);
	STORE_RELEASE(slot->start.ready, 1);
	slot_wake(slot);
	return tid;
}

s64 sys_exit(struct frame *frame)
{
	struct slot *slot = this_slot();
	struct process *process = slot->process;
	struct thread thread = slot->thread;
	u32 zero = 0;

	pending_drop(&slot->thread.pending, ~0UL);
	if (__atomic_sub_fetch(&process->n_threads, 1, __ATOMIC_ACQ_REL) == 0)
		process_exit((frame->rdi & 0xff) << 8);
	cpu_time_end(slot);
	slot->thread.blocked = ~0UL;
	futex_release_robust(&thread);
	/* A thread that waits for this one's end may want its slot for another one at once. */
	if (slot != process->first)
		STORE_RELEASE(slot->parked, 1);
	if (thread.clear_tid && !copy_to_user(thread.clear_tid, &zero, sizeof(zero)))
		futex_wake(thread.clear_tid, 1, ~0U);
	restart_slot();
}

s64 sys_set_tid_address(struct frame *frame)
{
	struct thread *thread = this_thread();

	thread->clear_tid = frame->rdi;
	return thread->tid;
}

s64 sys_set_robust_list(struct frame *frame)
{
	if (frame->rsi != sizeof(struct robust_list_head))
		return -EINVAL;
	this_thread()->robust_list = frame->rdi;
	return 0;
}
