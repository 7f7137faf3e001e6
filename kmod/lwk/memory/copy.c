/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/copy.h"

#include <linux/errno.h>

#include "lwk/base/lock.h"
#include "lwk/base/string.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/direct_map.h"
#include "lwk/memory/pages.h"
#include "lwk/memory/tables.h"
#include "lwk/process/schedule.h"
#include "lwk/watch/account.h"

static int copy_small(struct space *to, u64 addr, const void *from, const struct area *area)
{
	u64 *entry = entry_at(to, addr, 1, true);
	u64 phys = entry ? user_page_take(area_choice(area, addr)) : 0;

	if (!phys)
		return -ENOMEM;
	memcpy(phys_to_virt(phys), from, PAGE_SIZE);
	*entry = phys | prot_bits(area->prot);
	to->pages_4k++;
	return 0;
}

static int copy_large(struct space *to, u64 addr, const u8 *from, const struct area *area)
{
	u64 *entry = entry_at(to, addr, 2, true);
	u64 phys = entry ? user_large_take(area_choice(area, addr)) : 0;
	int error = 0;

	if (phys) {
		memcpy(phys_to_virt(phys), from, LARGE_SIZE);
		*entry = phys | PTE_PS | prot_bits(area->prot);
		to->pages_2m++;
		return 0;
	}
	for (u64 at = 0; at < LARGE_SIZE && !error; at += PAGE_SIZE)
		error = copy_small(to, addr + at, from + at, area);
	return error;
}

/* Copies the pages of [addr, end), within one 2 MB. With the lock of 'from' held. */
static int copy_part(struct space *to, struct space *from, u64 addr, u64 end,
		     const struct area *area)
{
	const u64 *entry = entry_at(from, addr, 2, false), *table;
	int error = 0;

	if (!entry || !is_page(*entry))
		return 0;
	if (*entry & PTE_PS)
		return copy_large(to, addr, phys_to_virt(*entry & PTE_ADDR), area);
	table = phys_to_virt(*entry & PTE_ADDR);
	for (; addr < end && !error; addr += PAGE_SIZE) {
		u64 page = table[table_index(addr, 1)];

		if (is_page(page))
			error = copy_small(to, addr, phys_to_virt(page & PTE_ADDR), area);
	}
	return error;
}

/*
 * Returns the next address that may have pages: the next 2 MB, or the next GB if there is no table.
 */
static u64 next_part(struct space *space, u64 addr)
{
	const u64 *upper = entry_at(space, addr, 3, false);
	u64 step = upper && *upper & PTE_P ? LARGE_SIZE : LARGE_SIZE * ENTRIES;

	return ALIGN_DOWN(addr, step) + step;
}

static int copy_area(struct space *to, struct space *from, const struct area *area,
		     bool (*stop)(void))
{
	u64 addr = area->start, next;
	int error = area_insert(to, area);

	/* The child's proxy has mapped the same file there, and its pages are granted anew. */
	if (area->shared)
		return error;
	for (; addr < area->end && !error; addr = next) {
		/* Page faults of other threads get the lock between the parts. */
		spin_lock(&from->lock);
		next = MIN(next_part(from, addr), area->end);
		error = copy_part(to, from, addr, next, area);
		spin_unlock(&from->lock);
		still_alive();
		slot_run_urgent();
		if (!error && stop())
			error = -EINTR;
	}
	return error;
}

int space_copy(struct space *to, struct space *from, bool (*stop)(void))
{
	u64 bytes = from->pages_4k * PAGE_SIZE + from->pages_2m * LARGE_SIZE;
	int error = 0;

	/* A copy that cannot succeed should not use up the memory of others. */
	if (bytes > user_free_bytes())
		return -ENOMEM;
	to->brk_start = from->brk_start;
	to->brk = from->brk;
	for (const struct area *area = from->areas; area && !error; area = area->next)
		error = copy_area(to, from, area, stop);
	space_publish(to);
	return error;
}
