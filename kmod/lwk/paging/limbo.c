/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/paging/limbo.h"

#include "abi/shared/calls.h"
#include "lwk/machine/x86.h"
#include "lwk/paging/tables.h"
#include "lwk/paging/tlb.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/watch/account.h"

/* The most memory that is given back without a pause. */
#define PART (1UL << 30)

void change_entry(u64 *entry, u64 new, bool *seen)
{
	if (__atomic_exchange_n(entry, new, __ATOMIC_ACQ_REL) & LWK_PTE_SEEN_BY_LINUX)
		*seen = true;
}

struct visited {
	bool present; /* a page could be used until now */
	bool seen;
};

static void visit_limbo(struct space *space, u64 *entry, bool large, u64 argument)
{
	struct visited *visited = (struct visited *)argument;

	visited->present |= *entry & PTE_P;
	change_entry(entry, (*entry & ~PTE_P & ~LWK_PTE_SEEN_BY_LINUX) | PTE_LIMBO, &visited->seen);
}

void hide_from_proxy(struct space *space, u64 start, u64 end)
{
	spin_unlock(&space->lock);
	channel_call(MEMORY, LWK_CALL_UNMAP, start, end - start);
	spin_lock(&space->lock);
}

void pages_to_limbo(struct space *space, u64 start, u64 end)
{
	struct visited visited = { 0 };

	visit_pages(space, start, end, visit_limbo, (u64)&visited);
	if (visited.present)
		tlb_flush_everywhere(space);
	if (visited.seen)
		hide_from_proxy(space, start, end);
}

static void free_if_in_limbo(struct space *space, u64 *entry, bool large, u64 argument)
{
	if (!(*entry & PTE_P))
		page_free(space, entry, large);
}

void pages_give_back(struct space *space, u64 start, u64 end)
{
	for (u64 at = start, next; at < end; at = next) {
		next = MIN(ALIGN_DOWN(at, PART) + PART, end);
		pages_to_limbo(space, at, next);
		visit_pages(space, at, next, free_if_in_limbo, 0);
		if (next == end)
			break;
		/* Other threads' faults get the lock, Linux its pages, other slots a turn. */
		spin_unlock(&space->lock);
		still_alive();
		channel_serve_fault();
		slot_run_urgent();
		spin_lock(&space->lock);
	}
}

void page_revive(u64 *entry)
{
	if (!(*entry & PTE_P))
		*entry = (*entry & ~PTE_LIMBO) | PTE_P;
}
