/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/change.h"

#include "abi/shared/layout.h"
#include "lwk/memory/areas.h"
#include "lwk/paging/limbo.h"
#include "lwk/paging/tables.h"
#include "lwk/process/process.h"
#include "lwk/process/schedule.h"

void change_begin(struct space *space)
{
	while (__atomic_exchange_n(&space->changing, 1, __ATOMIC_ACQUIRE)) {
		while (READ_ONCE(space->changing)) {
			process_goes_on();
			slot_yield();
		}
	}
	spin_lock(&space->lock);
}

void change_end(struct space *space)
{
	spin_unlock(&space->lock);
	STORE_RELEASE(space->changing, 0);
}

void space_keep(struct space *space)
{
	change_begin(space);
	spin_unlock(&space->lock);
}

void space_let_change(struct space *space)
{
	STORE_RELEASE(space->changing, 0);
}

/* A page outside all areas is free, each other one can be used again. */
static void visit_settle(struct space *space, u64 *entry, bool large, u64 mapped)
{
	if (mapped)
		page_revive(entry);
	else
		page_free(space, entry, large);
}

void space_settle(struct space *space)
{
	u64 at = LWK_USER_START;

	for (const struct area *area = space->areas; area; at = area->end, area = area->next) {
		visit_pages(space, at, area->start, visit_settle, false);
		visit_pages(space, area->start, area->end, visit_settle, true);
	}
	visit_pages(space, at, LWK_USER_END, visit_settle, false);
	space_let_change(space);
}
