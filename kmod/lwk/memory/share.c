/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory shared with other processes: pages that Linux has and lwkpart.ko grants (struct
 * lwk_grant). The LWK acts on what lwkpart.ko has written, whatever the proxy replies.
 */
#include "lwk/memory/share.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/mman.h>

#include "abi/shared/calls.h"
#include "abi/shared/grant.h"
#include "abi/shared/layout.h"
#include "lwk/calls/local.h"
#include "lwk/machine/boot.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/mapping.h"
#include "lwk/paging/direct_map.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/watch/panic.h"

static struct lwk_grant *own_grant(void)
{
	return (struct lwk_grant *)phys_to_virt(boot->grants) + this_slot()->index;
}

static void ask(u32 order, u32 access, u64 start, u64 count)
{
	struct lwk_grant *grant = own_grant();

	grant->order = order;
	grant->access = access;
	grant->start = start;
	grant->count = count;
	STORE_RELEASE(grant->state, LWK_GRANT_ASKED);
}

/* Once the proxy has replied: returns what lwkpart.ko has done, or -EIO if it has done nothing. */
static s64 answer(void)
{
	struct lwk_grant *grant = own_grant();
	u32 state = LWK_GRANT_ASKED;

	__atomic_compare_exchange_n(&grant->state, &state, LWK_GRANT_IDLE, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
	/* The proxy replied before lwkpart.ko was done. */
	while (state == LWK_GRANT_BUSY) {
		process_looks();
		state = LOAD_ACQUIRE(grant->state);
	}
	return state == LWK_GRANT_DONE ? (s64)READ_ONCE(grant->result) : -EIO;
}

s64 share_begin(u64 addr, u64 size, u32 prot, u64 flags, u64 fd, u64 offset)
{
	return channel_call(MEMORY, LWK_CALL_SHARE, addr, size, prot, flags, fd, offset);
}

s64 share_pin(u64 addr, u64 count, u32 access, const __u64 **pages)
{
	s64 n;

	count = MIN(count, LWK_GRANT_PAGES);
	ask(LWK_GRANT_PIN, access, addr, count);
	channel_call(MEMORY, LWK_CALL_GRANT, 0);
	n = answer();
	*pages = own_grant()->pages;
	return n > (s64)count ? -EIO : n;
}

void share_end(u64 addr, u64 size)
{
	/* Tests use it to see what becomes of pinned pages. */
	if (boot_option("inject=unshare"))
		panic("injected");
	ask(LWK_GRANT_UNPIN, 0, addr, size / PAGE_SIZE);
	channel_call(MEMORY, LWK_CALL_UNSHARE, addr, size);
	answer();
}

void share_give_up(void)
{
	ask(LWK_GRANT_UNPIN, 0, LWK_USER_START, (LWK_USER_END - LWK_USER_START) / PAGE_SIZE);
	channel_call(MEMORY, LWK_CALL_GRANT, 0);
	answer();
}

s64 share_protect(u64 addr, u64 size, u32 prot)
{
	s64 result;

	ask(LWK_GRANT_UNPIN, 0, addr, size / PAGE_SIZE);
	result = channel_call(MEMORY, LWK_CALL_RESHARE, addr, size, prot);
	answer();
	return result > 0 ? -EIO : result;
}

s64 share_sync(u64 start, u64 end)
{
	struct space *space = &this_process()->space;
	s64 result = 0;
	u64 stop;

	/* Linux would not know what to do with the parts that are the LWK's. */
	for (; !result && space_find_shared(space, &start, &stop, end); start = stop)
		while ((result = channel_call(MEMORY, __NR_msync, start, stop - start, MS_SYNC)) ==
		       -EINTR)
			signal_collect();
	return result;
}

/* ---- segments of shmget(2) ---- */

/* <linux/shm.h> includes <unistd.h>, which a kernel cannot have. */
#define SHM_RDONLY 010000
#define SHM_RND 020000
#define SHM_REMAP 040000

s64 sys_shmat(struct frame *frame)
{
	u64 addr = frame->rsi, flags = frame->rdx;
	enum placement placement = !addr	       ? PLACE_ANYWHERE
				   : flags & SHM_REMAP ? PLACE_REPLACE
						       : PLACE_EXACT;
	u32 prot = PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE);
	s64 size = channel_call(MEMORY, LWK_CALL_SEGMENT, frame->rdi), result;

	if (size <= 0)
		return size ? size : -EINVAL;
	if (flags & SHM_RND)
		addr = ALIGN_DOWN(addr, PAGE_SIZE);
	if (addr % PAGE_SIZE)
		return -EINVAL;
	result = space_map_shared(&this_process()->space, addr, size, prot, placement,
				  LWK_SHARE_SEGMENT, frame->rdi, 0);
	return result == -EEXIST || !result ? -EINVAL : result;
}

s64 sys_shmdt(struct frame *frame)
{
	s64 size = channel_call(MEMORY, LWK_CALL_DETACH, frame->rdi);

	if (size <= 0)
		return -EINVAL;
	return space_unmap(&this_process()->space, frame->rdi, size);
}
