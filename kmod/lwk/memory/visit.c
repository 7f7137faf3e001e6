/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_vm_readv(2) and process_vm_writev(2) between processes of this LWK. Linux cannot do them:
 * it does not find the pages of another proxy's WINDOW. The visited process keeps its memory while
 * a visitor has the lock, which is for a part of a page: no visitor waits with it for anything but
 * the space's lock. The data go through a buffer, because the caller's own page may have to be
 * fetched from Linux. A visitor cannot have the other's proxy fetch or hide pages, so EFAULT is for
 * shared memory that the other process has not touched, and for writing to a page that it has in
 * common with a relative since fork(2).
 */
#include "lwk/memory/visit.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/uio.h>

#include "lwk/base/string.h"
#include "lwk/calls/delegate.h"
#include "lwk/calls/local.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/user.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"

#define PART 2048

/* The caller's or the other process's list of memory: 'left' bytes at 'at', then 'n' elements. */
struct side {
	u64 next, n;
	u64 at, left;
};

void visit_allow(bool allowed)
{
	struct slot *slot = this_slot();

	spin_lock(&slot->visit_lock);
	slot->may_visit = allowed;
	spin_unlock(&slot->visit_lock);
}

/* Returns the first slot of the process that has a thread with this number, or NULL. */
static struct slot *find(u32 tid)
{
	const struct slot *slot = thread_find(tid);
	const struct process *process = slot ? LOAD_ACQUIRE(slot->process) : NULL;

	return process ? READ_ONCE(process->first) : NULL;
}

/* Copies within a page of the other process. 0; -ESRCH: it has ended; -EFAULT; -EAGAIN: ask again. */
static s64 copy_theirs(struct slot *other, u32 pid, u64 addr, void *buffer, u64 size, bool write)
{
	struct slot *slot = this_slot();
	s64 result = -ESRCH;
	u8 *page;

	spin_lock(&other->visit_lock);
	if (other->may_visit && other->own.pid == pid) {
		slot->visited = &other->own;
		page = space_hold(&other->own.space, addr, write, false);
		if (page) {
			memcpy(write ? page : buffer, write ? buffer : page, size);
			space_release(&other->own.space);
		}
		slot->visited = NULL;
		/* A page may be away just for the time of a change. */
		result = page ? 0 : READ_ONCE(other->own.space.changing) ? -EAGAIN : -EFAULT;
	}
	spin_unlock(&other->visit_lock);
	return result;
}

/* Skips elements without bytes left; at the end none are left. Returns 0 or a negative error. */
static s64 advance(struct side *side)
{
	struct iovec element;

	while (!side->left) {
		if (!side->n--)
			return 0;
		if (copy_from_user(&element, side->next, sizeof(element)))
			return -EFAULT;
		if ((s64)element.iov_len < 0)
			return -EINVAL;
		side->next += sizeof(element);
		side->at = (u64)element.iov_base;
		side->left = element.iov_len;
	}
	return 0;
}

static s64 copy_part(struct slot *other, u32 pid, const struct side *mine,
		     const struct side *theirs, u64 size, bool write)
{
	u8 buffer[PART];
	s64 error;

	if (write) {
		error = copy_from_user(buffer, mine->at, size);
		return error ? error : copy_theirs(other, pid, theirs->at, buffer, size, true);
	}
	error = copy_theirs(other, pid, theirs->at, buffer, size, false);
	return error ? error : copy_to_user(mine->at, buffer, size);
}

/* Returns the number of bytes copied, or why there are none. */
static s64 copy_all(struct slot *other, u32 pid, struct side *mine, struct side *theirs, bool write)
{
	s64 result, done = 0;

	while (!(result = advance(mine)) && mine->left && !(result = advance(theirs)) &&
	       theirs->left) {
		u64 size = MIN(MIN(mine->left, theirs->left),
			       MIN(PART, PAGE_SIZE - theirs->at % PAGE_SIZE));

		result = copy_part(other, pid, mine, theirs, size, write);
		if (result == -EAGAIN) {
			process_goes_on();
			slot_yield();
			continue;
		}
		if (result)
			break;
		mine->at += size;
		mine->left -= size;
		theirs->at += size;
		theirs->left -= size;
		done += size;
		process_goes_on();
	}
	return done ? done : result;
}

static s64 transfer(struct frame *frame, bool write)
{
	struct side mine = { .next = frame->rsi, .n = frame->rdx };
	struct side theirs = { .next = frame->r10, .n = frame->r8 };
	struct slot *other = find(frame->rdi);
	u32 pid = other ? READ_ONCE(other->own.pid) : 0;

	if (!other)
		return call_delegate(frame, LWK_CALLS_TRANSFER, true);
	if (frame->r9 || mine.n > UIO_MAXIOV || theirs.n > UIO_MAXIOV)
		return -EINVAL;
	return copy_all(other, pid, &mine, &theirs, write);
}

s64 sys_process_vm_readv(struct frame *frame)
{
	return transfer(frame, false);
}

s64 sys_process_vm_writev(struct frame *frame)
{
	return transfer(frame, true);
}
