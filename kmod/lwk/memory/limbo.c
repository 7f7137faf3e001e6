/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/limbo.h"

#include "abi/shared/calls.h"
#include "abi/shared/orders.h"
#include "abi/shared/statistics.h"
#include "lwk/base/lock.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/tables.h"
#include "lwk/memory/tlb.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"

void change_entry(u64 *entry, u64 new, bool *seen)
{
	if (__atomic_exchange_n(entry, new, __ATOMIC_ACQ_REL) & LWK_PTE_SEEN_BY_LINUX)
		*seen = true;
}

static void visit_limbo(struct space *space, u64 *entry, bool large, u64 seen)
{
	change_entry(entry, (*entry & ~PTE_P & ~LWK_PTE_SEEN_BY_LINUX) | PTE_LIMBO, (bool *)seen);
}

void hide_from_proxy(struct space *space, u64 start, u64 end)
{
	u64 args[6] = { start, end - start };

	spin_unlock(&space->lock);
	channel_request(LWK_CALL_UNMAP, args);
	this_slot()->status->delegated_calls[LWK_CALLS_MEMORY]++;
	spin_lock(&space->lock);
}

void pages_to_limbo(struct space *space, u64 start, u64 end)
{
	bool seen = false;

	visit_pages(space, start, end, visit_limbo, (u64)&seen);
	tlb_flush_everywhere(space);
	if (seen)
		hide_from_proxy(space, start, end);
}

static void free_if_in_limbo(struct space *space, u64 *entry, bool large, u64 argument)
{
	if (!(*entry & PTE_P))
		page_free(space, entry, large);
}

void pages_free_limbo(struct space *space, u64 start, u64 end)
{
	visit_pages(space, start, end, free_if_in_limbo, 0);
}

void page_revive(u64 *entry)
{
	if (!(*entry & PTE_P))
		*entry = (*entry & ~PTE_LIMBO) | PTE_P;
}
