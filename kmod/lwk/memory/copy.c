/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/copy.h"

#include <linux/errno.h>

#include "abi/shared/layout.h"
#include "abi/shared/orders.h"
#include "lwk/base/lock.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/areas.h"
#include "lwk/paging/limbo.h"
#include "lwk/paging/pages.h"
#include "lwk/paging/tables.h"
#include "lwk/paging/tlb.h"
#include "lwk/process/process.h"
#include "lwk/process/schedule.h"
#include "lwk/watch/account.h"

/*
 * Gives a page to both spaces. Neither may write to it any more. A thread that is alone makes no
 * page its own before its proxy has lost its view of all pages, so it may forget each view now.
 */
static void share_page(u64 *to, u64 *from, bool large, bool *seen)
{
	bool alone = READ_ONCE(this_process()->n_slots) == 1;
	u64 old = *from, forget = alone ? LWK_PTE_SEEN_BY_LINUX : 0;

	user_page_share(old & PTE_ADDR, large);
	__atomic_or_fetch(from, LWK_PTE_COPY, __ATOMIC_RELAXED);
	old = __atomic_fetch_and(from, ~(PTE_W | forget), __ATOMIC_ACQ_REL);
	*seen |= old & LWK_PTE_SEEN_BY_LINUX;
	*to = (old & ~(PTE_W | LWK_PTE_SEEN_BY_LINUX)) | LWK_PTE_COPY;
}

/* Shares the pages of [addr, end), within one 2 MB. With the lock of 'from' held. */
static int share_part(struct space *to, struct space *from, u64 addr, u64 end, bool *seen)
{
	u64 *entry = entry_at(from, addr, 2, false), *target;

	if (!entry || !(*entry & PTE_P))
		return 0;
	if (*entry & PTE_PS) {
		target = entry_at(to, addr, 2, true);
		if (!target)
			return -ENOMEM;
		share_page(target, entry, true, seen);
		to->pages_2m++;
		return 0;
	}
	entry = entry_at(from, addr, 1, false);
	target = entry_at(to, addr, 1, true);
	if (!target)
		return -ENOMEM;
	for (; addr < end; addr += PAGE_SIZE, entry++, target++) {
		if (!(*entry & PTE_P))
			continue;
		share_page(target, entry, false, seen);
		to->pages_4k++;
	}
	return 0;
}

static int share_area(struct space *to, struct space *from, const struct area *area, bool *seen)
{
	u64 addr = area->start, next;
	int error = area->at_fork == FORK_LEAVES ? 0 : area_insert(to, area);

	/* The child's proxy has mapped the same file there, and gets its own grants. */
	if (area->shared || area->at_fork != FORK_COPIES)
		return error;
	for (; addr < area->end && !error; addr = next) {
		/* Page faults of other threads get the lock between the parts. */
		spin_lock(&from->lock);
		next = MIN(next_part(from, addr), area->end);
		error = share_part(to, from, addr, next, seen);
		spin_unlock(&from->lock);
		still_alive();
		slot_run_urgent();
	}
	return error;
}

int space_copy(struct space *to, struct space *from)
{
	bool seen = false;
	int error = 0;

	to->brk_start = from->brk_start;
	to->brk = from->brk;
	for (const struct area *area = from->areas; area && !error; area = area->next)
		error = share_area(to, from, area, &seen);
	spin_lock(&from->lock);
	tlb_flush_everywhere(from);
	if (seen)
		hide_from_proxy(from, LWK_USER_START, LWK_USER_END);
	spin_unlock(&from->lock);
	return error;
}
