/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that wait for each other (futex(2)). A futex is an address of one process, private or
 * not. Futexes in shared memory are Linux's, because threads on Linux may wait for them.
 */
#include "lwk/process/futex.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/futex.h>

#include "abi/shared/layout.h"
#include "lwk/calls/delegate.h"
#include "lwk/calls/local.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/user.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/signals/deliver.h"
#include "lwk/time/clock.h"
#include "lwk/watch/account.h"

/* The bits of an operation that are its command. */
#define FUTEX_COMMAND 0x7f

/* FUTEX_LOCK_PI2, newer than some headers. */
#define LOCK_PI2 13

static int read_held(struct space *space, const u32 *word, u32 *value)
{
	if (!word)
		return -EFAULT;
	*value = READ_ONCE(*word);
	space_release(space);
	return 0;
}

/* Reads the word at addr. 0 or -EFAULT. */
static int read_word(u64 addr, u32 *value)
{
	struct space *space = &this_process()->space;

	return read_held(space, space_hold(space, addr, false, true), value);
}

/*
 * Compares the word at addr with futex_lock held, without waiting for a page. 0; -EAGAIN, for the
 * caller of futex(2) to try again: the value differs, or the page has gone since read_word()
 * brought it.
 */
static int compare_word(u64 addr, u32 wanted)
{
	struct space *space = &this_process()->space;
	u32 value;

	if (read_held(space, space_hold(space, addr, false, false), &value))
		return -EAGAIN;
	return value == wanted ? 0 : -EAGAIN;
}

/* The list is in the order of arrival. */
static void append(struct process *process, struct waiter *waiter)
{
	struct waiter **link = &process->waiters;

	while (*link)
		link = &(*link)->next;
	*link = waiter;
}

/* Takes the waiter out of the list; false: it was not there. */
static bool remove(struct process *process, struct waiter *waiter)
{
	for (struct waiter **link = &process->waiters; *link; link = &(*link)->next) {
		if (*link == waiter) {
			*link = waiter->next;
			return true;
		}
	}
	return false;
}

static void wake_first(struct waiter **link)
{
	struct waiter *waiter = *link;
	struct slot *slot = waiter->slot;

	*link = waiter->next;
	STORE_RELEASE(waiter->woken, 1);
	slot_wake(slot);
}

/* futex_wake() with futex_lock held. */
static u64 wake(struct process *process, u64 addr, u64 count, u32 bitset)
{
	struct waiter **link = &process->waiters;
	u64 woken = 0;

	while (*link && woken < count) {
		if ((*link)->addr != addr || !((*link)->bitset & bitset)) {
			link = &(*link)->next;
			continue;
		}
		wake_first(link);
		woken++;
	}
	return woken;
}

/*
 * The proxy makes no call as long as a signal waits to be collected. A thread that has ended has no
 * use for its own signals, and another thread may prepare the next one in its slot already.
 */
static void collect_signals(void)
{
	const struct slot *slot = this_slot();

	if (slot->running)
		signal_collect();
	else
		signal_collect_late(LOAD_ACQUIRE(slot->channel->signals.head));
}

static s64 by_linux(u64 addr, u32 operation, u64 count, u32 bitset)
{
	s64 result;

	while ((result = channel_call(WAIT, __NR_futex, addr, operation, count, 0, 0, bitset)) ==
	       -EINTR)
		collect_signals();
	return result;
}

u64 futex_wake(u64 addr, u64 count, u32 bitset)
{
	struct process *process = this_process();
	u64 woken;

	if (space_is_shared(&process->space, addr)) {
		s64 result = by_linux(addr, FUTEX_WAKE_BITSET, count, bitset);

		return MAX(result, 0);
	}
	spin_lock(&process->futex_lock);
	woken = wake(process, addr, count, bitset);
	spin_unlock(&process->futex_lock);
	return woken;
}

static bool woken_or_disturbed(const struct slot *slot)
{
	return LOAD_ACQUIRE(slot->waiter.woken) || signal_comes(slot) ||
	       READ_ONCE(slot->process->ending);
}

/* Waits until it is woken: 0; -EINTR, also when the process ends; -ETIMEDOUT. */
static s64 sleep(struct process *process, struct waiter *waiter, u64 deadline)
{
	while (!LOAD_ACQUIRE(waiter->woken)) {
		signal_collect();
		if (signal_effective() || !channel_ordered(waiter->slot) ||
		    READ_ONCE(process->ending))
			return -EINTR;
		channel_serve_fault();
		if (deadline != NO_DEADLINE && clock_monotonic() >= deadline)
			return -ETIMEDOUT;
		slot_sleep_until(woken_or_disturbed, deadline);
	}
	return 0;
}

static s64 wait(u64 addr, u32 wanted, u32 bitset, u64 deadline)
{
	struct slot *slot = this_slot();
	struct process *process = slot->process;
	struct waiter *waiter = &slot->waiter;
	u32 value;
	s64 result;

	if (!bitset)
		return -EINVAL;
	/* The page may have to be made, which takes too long with the lock held. */
	if (read_word(addr, &value))
		return -EFAULT;
	*waiter = (struct waiter){ .slot = slot, .addr = addr, .bitset = bitset };
	spin_lock(&process->futex_lock);
	result = compare_word(addr, wanted);
	if (!result)
		append(process, waiter);
	spin_unlock(&process->futex_lock);
	if (result)
		return result;

	account(LWK_CPU_WAITING);
	result = sleep(process, waiter, deadline);
	account(LWK_CPU_USER);
	spin_lock(&process->futex_lock);
	/* A thread that was woken at the last moment reports no error. */
	if (!remove(process, waiter))
		result = 0;
	spin_unlock(&process->futex_lock);
	this_thread()->interrupted = result == -EINTR && deadline == NO_DEADLINE;
	return result;
}

void futex_forget(struct slot *slot)
{
	struct process *process = slot->process;

	spin_lock(&process->futex_lock);
	remove(process, &slot->waiter);
	spin_unlock(&process->futex_lock);
}

static s64 wait_call(const struct frame *frame, u32 bitset)
{
	enum wait_end end = (frame->rsi & FUTEX_COMMAND) == FUTEX_WAIT ? WAIT_FOR
			    : frame->rsi & FUTEX_CLOCK_REALTIME	       ? WAIT_UNTIL_REALTIME
								       : WAIT_UNTIL;
	u64 deadline;
	s64 error = clock_read_deadline(frame->r10, end, &deadline);

	return error ? error : wait(frame->rdi, frame->rdx, bitset, deadline);
}

/* Wakes some of the threads that wait at one address, and lets others wait at another. */
static s64 requeue(const struct frame *frame, bool compare)
{
	struct process *process = this_process();
	u64 most_woken = (u32)frame->rdx, most_moved = (u32)frame->r10, moved = 0;
	s64 result = 0;
	u32 value;

	if ((s32)frame->rdx < 0 || (s32)frame->r10 < 0 || frame->r8 % sizeof(u32))
		return -EINVAL;
	if (compare && read_word(frame->rdi, &value))
		return -EFAULT;
	spin_lock(&process->futex_lock);
	if (compare)
		result = compare_word(frame->rdi, frame->r9);
	if (!result) {
		result = wake(process, frame->rdi, most_woken, ~0U);
		for (struct waiter *w = process->waiters; w && moved < most_moved; w = w->next) {
			if (w->addr != frame->rdi)
				continue;
			w->addr = frame->r8;
			moved++;
		}
		/* As on Linux, FUTEX_REQUEUE counts only the threads woken. */
		result += compare ? moved : 0;
	}
	spin_unlock(&process->futex_lock);
	return result;
}

/* True for a lock with priority inheritance. Linux knows each thread by its proxy's number. */
static bool inherits(u32 command)
{
	return command == FUTEX_LOCK_PI || command == LOCK_PI2 || command == FUTEX_TRYLOCK_PI ||
	       command == FUTEX_UNLOCK_PI;
}

/* Private memory is private to the proxy, too, whose window has no pages that others share. */
static s64 delegate(struct frame *frame, u32 command, bool shared)
{
	bool timed = (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && frame->r10;
	u64 operation = frame->rsi;
	s64 result;

	frame->rsi |= shared ? 0 : FUTEX_PRIVATE_FLAG;
	result = call_delegate(frame, LWK_CALLS_WAIT, !timed && !inherits(command));
	frame->rsi = operation;
	/* A thread that left the lock by ending is about to say so in its word. */
	while (!result && READ_ONCE(this_process()->passing))
		process_looks();
	/* As on Linux, no handler ends the wait for such a lock. */
	return result == -EINTR && inherits(command) ? restart_call(frame) : result;
}

s64 sys_futex(struct frame *frame)
{
	/* As on Linux, at least one thread is woken. */
	u64 count = MAX((s32)frame->rdx, 1);
	u32 command = frame->rsi & FUTEX_COMMAND;
	bool shared;

	if (frame->rdi % sizeof(u32))
		return -EINVAL;
	if (frame->rdi >= LWK_USER_END)
		return -EFAULT;
	shared = !(frame->rsi & FUTEX_PRIVATE_FLAG) &&
		 space_is_shared(&this_process()->space, frame->rdi);
	if (shared || inherits(command))
		return delegate(frame, command, shared);
	switch (command) {
	case FUTEX_WAIT:
		return wait_call(frame, ~0U);
	case FUTEX_WAIT_BITSET:
		return wait_call(frame, frame->r9);
	case FUTEX_WAKE:
		return futex_wake(frame->rdi, count, ~0U);
	case FUTEX_WAKE_BITSET:
		return (u32)frame->r9 ? (s64)futex_wake(frame->rdi, count, frame->r9) : -EINVAL;
	case FUTEX_REQUEUE:
		return requeue(frame, false);
	case FUTEX_CMP_REQUEUE:
		return requeue(frame, true);
	default:
		return -ENOSYS;
	}
}

/* ---- robust futexes: Documentation/locking/robust-futex-ABI.rst of Linux ---- */

/* Has Linux give a lock of priority inheritance to a waiter; its word says that the owner died. */
static void pass_on(struct process *process, u64 addr)
{
	u32 private = space_is_shared(&process->space, addr) ? 0 : FUTEX_PRIVATE_FLAG, *word;

	__atomic_add_fetch(&process->passing, 1, __ATOMIC_SEQ_CST);
	by_linux(addr, FUTEX_UNLOCK_PI | private, 0, 0);
	word = space_hold(&process->space, addr, true, true);
	if (word) {
		__atomic_or_fetch(word, FUTEX_OWNER_DIED, __ATOMIC_SEQ_CST);
		space_release(&process->space);
	}
	__atomic_sub_fetch(&process->passing, 1, __ATOMIC_SEQ_CST);
}

static void release_one(u64 entry, s64 offset, u32 tid)
{
	struct process *process = this_process();
	/* Bit 0 of an entry marks priority inheritance. */
	u64 addr = (entry & ~1UL) + offset;
	u32 old, *word;
	bool owned;

	if (addr % sizeof(u32) || !(word = space_hold(&process->space, addr, true, true)))
		return;
	old = READ_ONCE(*word);
	do
		owned = (old & FUTEX_TID_MASK) == tid;
	while (owned && !(entry & 1 && old & FUTEX_WAITERS) &&
	       !__atomic_compare_exchange_n(word, &old, (old & FUTEX_WAITERS) | FUTEX_OWNER_DIED,
					    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	space_release(&process->space);
	if (!owned || !(old & FUTEX_WAITERS))
		return;
	if (entry & 1)
		pass_on(process, addr);
	else
		futex_wake(addr, 1, ~0U);
}

void futex_release_robust(const struct thread *thread)
{
	u64 at = thread->robust_list, entry, pending;
	struct robust_list_head head;

	if (!at || copy_from_user(&head, at, sizeof(head)))
		return;
	pending = (u64)head.list_op_pending;
	entry = (u64)head.list.next;
	for (u32 n = 0; n < ROBUST_LIST_LIMIT && (entry & ~1UL) != at; n++) {
		u64 next;
		bool more = !copy_from_user(&next, entry & ~1UL, sizeof(next));

		if (entry != pending)
			release_one(entry, head.futex_offset, thread->tid);
		if (!more)
			break;
		entry = next;
		still_alive();
	}
	if (pending)
		release_one(pending, head.futex_offset, thread->tid);
}
