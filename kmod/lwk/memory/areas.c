/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/areas.h"

#include <linux/errno.h>

#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwk/memory/tree.h"
#include "lwk/paging/pages.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"

bool range_valid(u64 addr, u64 size)
{
	return addr % PAGE_SIZE == 0 && addr >= LWK_USER_START && size <= LWK_USER_END &&
	       addr <= LWK_USER_END - size;
}

static struct area *area_alloc(struct space *space)
{
	struct area *area = space->free_areas;

	if (!area) {
		u8 *page = kernel_page_alloc();

		if (!page)
			return NULL;
		/* The first element links the pages of this space. */
		*(void **)page = space->area_pages;
		space->area_pages = page;
		for (u64 at = sizeof(*area); at + sizeof(*area) <= PAGE_SIZE; at += sizeof(*area)) {
			struct area *fresh = (struct area *)(page + at);

			fresh->next = space->free_areas;
			space->free_areas = fresh;
		}
		area = space->free_areas;
	}
	space->free_areas = area->next;
	return area;
}

void area_remove(struct space *space, struct area *area)
{
	tree_remove(space, area);
	area->next = space->free_areas;
	space->free_areas = area;
}

struct area *area_from(const struct space *space, u64 addr)
{
	struct area *area = space->tree, *found = NULL;

	while (area) {
		if (area->end > addr) {
			found = area;
			area = area->left;
		} else {
			area = area->right;
		}
	}
	return found;
}

struct area *area_at(struct space *space, u64 addr)
{
	struct area *area = area_from(space, addr);

	return area && area->start <= addr ? area : NULL;
}

int area_split(struct space *space, u64 addr)
{
	struct area *area = area_at(space, addr), *rest;

	if (!area || area->start == addr)
		return 0;
	rest = area_alloc(space);
	if (!rest)
		return -ENOMEM;
	*rest = *area;
	rest->start = addr;
	rest->offset += addr - area->start;
	tree_set_edges(space, area, area->start, addr);
	tree_add(space, rest);
	return 0;
}

static bool continues_file(const struct area *area, const struct area *next)
{
	return area->file == next->file &&
	       (!area->file || next->offset - area->offset == next->start - area->start);
}

/* True when 'next' continues 'area' in every respect, so that both can be one area. */
static bool alike(const struct area *area, const struct area *next)
{
	return next->start == area->end && next->prot == area->prot &&
	       next->shared == area->shared && next->reserved == area->reserved &&
	       next->sparse == area->sparse && next->at_fork == area->at_fork &&
	       next->policy.mode == area->policy.mode && next->policy.nodes == area->policy.nodes &&
	       continues_file(area, next);
}

void area_join(struct space *space, struct area *area)
{
	struct area *next;

	while ((next = area->next) && alike(area, next)) {
		u64 end = next->end;

		area_remove(space, next);
		tree_set_edges(space, area, area->start, end);
	}
}

int area_insert(struct space *space, const struct area *like)
{
	struct area *next = area_from(space, like->start), *area;
	struct area *previous = next ? next->previous : tree_last(space);

	if (previous && alike(previous, like)) {
		tree_set_edges(space, previous, previous->start, like->end);
		area_join(space, previous);
		return 0;
	}
	if (next && alike(like, next)) {
		next->offset = like->offset;
		tree_set_edges(space, next, like->start, next->end);
		return 0;
	}
	area = area_alloc(space);
	if (!area)
		return -ENOMEM;
	*area = *like;
	tree_add(space, area);
	return 0;
}

bool range_free(struct space *space, u64 start, u64 end)
{
	struct area *area = area_from(space, start);

	return !area || area->start >= end;
}

bool range_mapped(struct space *space, u64 start, u64 end)
{
	if (!range_valid(start, end - start))
		return false;
	for (struct area *area = area_from(space, start); area && area->start <= start;
	     area = area->next) {
		if (area->end >= end)
			return true;
		start = area->end;
	}
	return false;
}

u64 find_room(struct space *space, u64 size, u64 end)
{
	/*
	 * A size that large pages fill is aligned for them. Other sizes are put next to each
	 * other, because arrays that all start at a multiple of 2 MB compete for the same lines of
	 * caches and TLBs (Linux has the same rule since 6.7).
	 */
	u64 align = size % LARGE_SIZE == 0 ? LARGE_SIZE : PAGE_SIZE;
	/* The heap of a program that is loaded high grows away from low room. */
	u64 start = space->brk < end ? MAX(space->brk, LWK_USER_START) : LWK_USER_START;

	return tree_find_room(space, start, end, size, align);
}

struct choice area_choice(const struct area *area, u64 addr)
{
	return policy_choice(area->policy.mode ? &area->policy : &this_thread()->policy, addr);
}

bool space_is_shared(struct space *space, u64 addr)
{
	u64 stop;

	return space_find_shared(space, &addr, &stop, addr + 1);
}

bool space_find_shared(struct space *space, u64 *start, u64 *stop, u64 end)
{
	const struct area *area;
	bool found;

	spin_lock(&space->lock);
	area = area_from(space, *start);
	while (area && !area->shared && area->start < end)
		area = area->next;
	found = area && MAX(*start, area->start) < end;
	if (found) {
		*start = MAX(*start, area->start);
		*stop = MIN(end, area->end);
	}
	spin_unlock(&space->lock);
	return found;
}

bool space_is_mapped(struct space *space, u64 addr, u64 size)
{
	bool mapped;

	spin_lock(&space->lock);
	mapped = range_mapped(space, addr, addr + size);
	spin_unlock(&space->lock);
	return mapped;
}

bool space_find_area(struct space *space, u64 addr, struct area *found)
{
	const struct area *area;

	spin_lock(&space->lock);
	area = area_from(space, addr);
	if (area)
		*found = *area;
	spin_unlock(&space->lock);
	return area;
}

s64 space_tell(struct space *space)
{
	struct area area = { 0 };
	s64 error = 0;

	/* Other threads may change areas that have not been told yet, as with /proc of Linux. */
	while (!error && space_find_area(space, area.end, &area)) {
		bool heap = !area.file && !area.shared && area.start < READ_ONCE(space->brk) &&
			    area.end > space->brk_start;

		error = channel_call(MEMORY, LWK_CALL_AREA, area.start, area.end, area.prot,
				     (area.shared ? LWK_AREA_SHARED : 0) |
					     (heap ? LWK_AREA_HEAP : 0),
				     area.file, area.offset);
	}
	return error;
}
