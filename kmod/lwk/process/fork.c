/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that a process makes. Its proxy makes a child, which becomes the proxy of a new LWK
 * process, on a free CPU as any other. The thread that calls fork(2) makes a second space with the
 * same pages, and waits until the new process's slot takes its offer: space, registers, signals.
 *
 * The child of vfork(2) borrows the memory itself, and the parent has none until the child has
 * another program or ends. Pages of others (memory/share.h) are granted to one process, so each of
 * the two gets its own grants. The child gets a copy if the parent has other threads, or has
 * borrowed its memory.
 *
 * Another program in a process (execve(2)) is a new LWK process with the same proxy.
 */
#include "lwk/process/fork.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/sched.h>
#include <linux/signal.h>

#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwk/base/string.h"
#include "lwk/calls/local.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/change.h"
#include "lwk/memory/copy.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/share.h"
#include "lwk/memory/user.h"
#include "lwk/memory/visit.h"
#include "lwk/paging/pages.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"

#define CLONE_PROCESS                                                                              \
	(CLONE_VM | CLONE_VFORK | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |      \
	 CLONE_CHILD_SETTID | CSIGNAL)

/* The lower bits of an offer's state; 0: there is no offer. */
enum { OFFER_OPEN = 1, OFFER_TAKEN = 2, OFFER_LENT = 3 };

static u64 offer_state(u64 number, u64 how)
{
	return number << 2 | how;
}

static u64 offer_make(const struct frame *frame, u64 flags, u64 stack, bool lend)
{
	struct slot *slot = this_slot();
	struct offer *offer = &slot->offer;

	/* fork(2) and vfork(2) come with no other flags. */
	thread_start_store(slot, &offer->start, frame, flags, stack);
	offer->settid = flags & CLONE_CHILD_SETTID ? frame->r10 : 0;
	offer->lent = lend;
	if (lend)
		space_move(&offer->space, &slot->process->space);
	STORE_RELEASE(offer->state, offer_state(++slot->offers, OFFER_OPEN));
	return slot->offers;
}

static bool close_offer(u64 how)
{
	struct offer *offer = &this_slot()->offer;
	u64 state = LOAD_ACQUIRE(offer->state);

	return (state & 3) == how &&
	       __atomic_compare_exchange_n(&offer->state, &state, 0, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Ends this slot's offer: memory that it lent comes back, memory that nobody took is freed. */
static void take_back(void)
{
	struct slot *slot = this_slot();

	if (!slot->offer.space.root)
		return;
	if (slot->offer.lent)
		space_move(&slot->process->space, &slot->offer.space);
	else
		space_destroy(&slot->offer.space);
	space_publish(&slot->process->space);
}

void fork_withdraw(void)
{
	struct offer *offer = &this_slot()->offer;

	/* A borrower may keep the memory. */
	while (LOAD_ACQUIRE(offer->state) && !close_offer(OFFER_OPEN) && !close_offer(OFFER_LENT))
		slot_yield();
	take_back();
}

static bool offer_over(const struct slot *slot)
{
	return !LOAD_ACQUIRE(slot->offer.state);
}

/* Waits until the memory is back. */
static void await_return(void)
{
	struct process *process = this_process();

	while (LOAD_ACQUIRE(this_slot()->offer.state) && !close_offer(OFFER_OPEN)) {
		if (!channel_ordered(this_slot()))
			process_abandon();
		channel_serve_fault();
		slot_sleep(offer_over);
	}
	take_back();
	space_resume(&process->space);
}

static s64 report_failure(s64 error)
{
	u32 pid = this_process()->pid;

	if (error == -EAGAIN)
		print("pid %u: fork: the LWK has memory for %u threads in all, or Linux has a limit; run fewer programs at a time, or ask for more memory",
		      pid, boot->n_slots - boot->n_cpus);
	else if (error == -ENOMEM)
		print("pid %u: fork wants room for page tables, but all of the LWK's own %llu MB are in use; run fewer programs at a time, or ask for more with --mem",
		      pid, boot->reserve_size >> 20);
	else
		print("pid %u: fork: the proxy cannot make a child (error %lld)", pid, -error);
	return error;
}

/* Offers a copy of the process; returns the child's pid or a negative errno. */
static s64 copy_out(struct frame *frame, u64 flags, u64 stack)
{
	struct space *space = &this_process()->space;
	struct slot *slot = this_slot();
	struct offer *offer = &slot->offer;
	s64 pid;

	space_keep(space);
	offer->lent = false;
	pid = space_init(&offer->space);
	if (!pid)
		pid = space_copy(&offer->space, space);
	if (!pid) {
		u64 number = offer_make(frame, flags, stack, false);

		pid = channel_call(PROCESS, LWK_CALL_FORK, slot->index, number,
				   !!(flags & CLONE_VFORK), frame->rsp);
	}
	fork_withdraw();
	space_let_change(space);
	return pid;
}

/* Lends the process's memory; returns the child's pid or a negative errno. */
static s64 lend(struct frame *frame, u64 flags, u64 stack)
{
	u64 number;
	s64 pid;

	visit_allow(false);
	if (space_revoke_all(&this_process()->space))
		share_give_up();
	WRITE_ONCE(this_slot()->control->page_root, 0);
	channel_call(MEMORY, LWK_CALL_UNMAP, LWK_USER_START, LWK_USER_END - LWK_USER_START);
	/* The borrower may free the page tables. */
	space_leave();
	number = offer_make(frame, flags, stack, true);
	pid = channel_call(PROCESS, LWK_CALL_FORK, this_slot()->index, number, true);
	if (pid > 0)
		channel_call(WAIT, LWK_CALL_FORK_WAIT, 0);
	await_return();
	visit_allow(true);
	return pid;
}

static s64 make(struct frame *frame, u64 flags, u64 stack)
{
	bool vfork = flags & CLONE_VFORK;
	s64 pid;

	if (vfork && READ_ONCE(this_process()->n_slots) == 1 && !this_slot()->borrowed) {
		pid = lend(frame, flags, stack);
	} else {
		pid = copy_out(frame, flags, stack);
		if (pid > 0 && vfork)
			channel_call(WAIT, LWK_CALL_FORK_WAIT, 0);
	}
	return pid < 0 ? report_failure(pid) : pid;
}

s64 fork_clone(struct frame *frame)
{
	u64 flags = frame->rdi, stack = frame->rsi;
	u32 tid;
	s64 pid;

	if (flags & ~CLONE_PROCESS || (flags & CSIGNAL) != SIGCHLD ||
	    (flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM) {
		print("pid %u: clone with flags %llx: expected the flags of a thread, of fork or of vfork",
		      this_process()->pid, flags);
		return -ENOSYS;
	}
	if (stack >= LWK_USER_END)
		return -EINVAL;
	if (flags & CLONE_SETTLS && frame->r8 >= LWK_USER_END)
		return -EPERM;
	pid = make(frame, flags, stack);
	tid = pid;
	if (pid > 0 && flags & CLONE_PARENT_SETTID)
		copy_to_user(frame->rdx, &tid, sizeof(tid));
	return pid;
}

s64 sys_fork(struct frame *frame)
{
	return make(frame, 0, 0);
}

s64 sys_vfork(struct frame *frame)
{
	return make(frame, CLONE_VFORK, 0);
}

static void answer(struct slot *parent, u64 state)
{
	STORE_RELEASE(parent->offer.state, state);
	slot_wake(parent);
}

/* Takes the offer 'number' of slot 'index'. 0; -EINVAL: there is no such offer. */
static s64 take(u64 index, u64 number, u64 how)
{
	u64 state = offer_state(number, how);

	/* The proxy names the offer, and may name one that is gone or never was. */
	if (index >= boot->n_slots || number > ~0UL >> 2 ||
	    !__atomic_compare_exchange_n(&slot_at(index)->offer.state, &state,
					 offer_state(number, OFFER_TAKEN), false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return -EINVAL;
	this_slot()->parent = index;
	return 0;
}

/* Copies everything except memory. */
static void copy_rest(struct slot *parent)
{
	struct process *process = this_process(), *original = parent->process;
	struct slot *slot = this_slot();
	struct cpu_set cpus;

	spin_lock(&original->action_lock);
	memcpy(process->actions, original->actions, sizeof(process->actions));
	process->passed_on = original->passed_on;
	spin_unlock(&original->action_lock);
	process->uid = original->uid;
	process->barriers = READ_ONCE(original->barriers);
	slot->thread.blocked = parent->thread.blocked;
	slot->held = parent->held;
	slot->thread.altstack = parent->thread.altstack;
	slot->thread.policy = parent->thread.policy;
	cpus = affinity_of(parent);
	affinity_set(slot, &cpus);
	slot->start = parent->offer.start;
	slot->thread.clear_tid = slot->start.clear_tid;
	slot->settid = parent->offer.settid;
	memcpy(slot->fpu_area, parent->fpu_area, fpu_size());
}

/* Replaces the empty space of this process by the one in the offer. */
static void take_space(struct slot *parent)
{
	struct slot *slot = this_slot();

	space_leave();
	space_destroy(&slot->process->space);
	space_move(&slot->process->space, &parent->offer.space);
	if (parent->offer.lent)
		user_pages_forget(parent->process->first);
	space_resume(&slot->process->space);
}

s64 fork_adopt(u64 index, u64 number)
{
	struct slot *parent;
	bool is_empty = !READ_ONCE(this_slot()->control->page_root);
	s64 error = is_empty ? take(index, number, OFFER_OPEN) : -EINVAL;

	if (error)
		return error;
	parent = slot_at(index);
	take_space(parent);
	copy_rest(parent);
	if (parent->offer.lent)
		this_slot()->borrowed = number;
	answer(parent, parent->offer.lent ? offer_state(number, OFFER_LENT) : 0);
	return 0;
}

bool fork_return(void)
{
	struct slot *slot = this_slot(), *parent = slot_at(slot->parent);
	struct space *space = &slot->process->space;
	u64 number = slot->borrowed;

	slot->borrowed = 0;
	if (!number || take(slot->parent, number, OFFER_LENT))
		return false;
	space_settle(space);
	space_revoke_all(space);
	space_move(&parent->offer.space, space);
	user_pages_forget(slot);
	answer(parent, 0);
	return true;
}

void fork_run(void)
{
	struct slot *slot = this_slot();

	if (slot->settid)
		copy_to_user(slot->settid, &slot->thread.tid, sizeof(slot->thread.tid));
	visit_allow(true);
	thread_run();
}

/* ---- another program ---- */

static s64 exec(u64 directory, u64 path, u64 argv, u64 envp, u64 flags)
{
	struct thread *thread = this_thread();
	struct slot *slot = this_slot();

	/* If the call fails, they come back. */
	signal_hand_down(~0UL);
	this_process()->first->heritage = (struct heritage){
		this_process()->pid,
		thread->policy,
		cpu_time_cycles(),
		affinity_of(slot),
	};
	return channel_call(PROCESS, LWK_CALL_EXEC, directory, path, argv, envp, flags,
			    thread->blocked);
}

s64 sys_execve(struct frame *frame)
{
	return exec(AT_FDCWD, frame->rdi, frame->rsi, frame->rdx, 0);
}

s64 sys_execveat(struct frame *frame)
{
	return exec(frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8);
}
