/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making, changing and ending mappings. The static functions want the space 'changing' and its lock
 * held; the others see to both.
 */
#include "lwk/memory/mapping.h"

#include <linux/errno.h>
#include <linux/mman.h>

#include "abi/shared/layout.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/change.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/move.h"
#include "lwk/memory/share.h"
#include "lwk/paging/limbo.h"
#include "lwk/paging/pages.h"
#include "lwk/paging/tables.h"
#include "lwk/paging/tlb.h"
#include "lwk/process/slot.h"

/* Linux 5.7 */
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* The value of an expression that changes mappings. */
#define CHANGED(space, expression)                                                                 \
	({                                                                                         \
		s64 changed_result;                                                                \
                                                                                                   \
		change_begin(space);                                                               \
		changed_result = (expression);                                                     \
		change_end(space);                                                                 \
		changed_result;                                                                    \
	})

/*
 * True when something in [start, end) must stay: what the proxy keeps, or, in the child of a
 * vfork(2), memory of others, which the parent's proxy has, too.
 */
static bool range_stays(struct space *space, u64 start, u64 end)
{
	const struct area *area = area_from(space, start);
	bool borrowed = this_process()->first->borrowed;

	while (area && area->start < end && !area->reserved && !(borrowed && area->shared))
		area = area->next;
	return area && area->start < end;
}

static s64 unmap(struct space *space, u64 addr, u64 size)
{
	struct area *area;
	bool shared = false;
	u64 end;

	size = ALIGN_UP(size, PAGE_SIZE);
	if (!size || !range_valid(addr, size))
		return -EINVAL;
	end = addr + size;
	if (range_free(space, addr, end))
		return 0;
	if (range_stays(space, addr, end) || split_edges(space, addr, end))
		return -ENOMEM;
	while ((area = area_from(space, addr)) && area->start < end) {
		shared |= area->shared;
		area_remove(space, area);
	}
	pages_give_back(space, addr, end);
	if (shared) {
		spin_unlock(&space->lock);
		share_end(addr, size);
		spin_lock(&space->lock);
	}
	space_publish(space);
	return 0;
}

/* True when the program may touch the memory and 'size' is more than the partition has. */
static bool never_fits(u64 size, u32 prot)
{
	return prot && size > status->user_bytes;
}

/*
 * True when so many bytes more would exceed RLIMIT_AS. The proxy's word counts, because the limit
 * is a promise to the program only.
 */
static bool over_limit(const struct space *space, u64 size)
{
	u64 limit = READ_ONCE(this_process()->first->channel->address_limit), sum = size;

	for (const struct area *area = limit ? space->areas : NULL; area; area = area->next)
		sum += area->reserved ? 0 : area->end - area->start;
	return limit && sum > limit;
}

/* Maps an area that is as 'like' says, but for where it is. */
static s64 map_like(struct space *space, u64 addr, u64 size, enum placement placement,
		    const struct area *like)
{
	struct area area = *like;

	size = ALIGN_UP(size, PAGE_SIZE);
	if (!size || size > LWK_USER_END || area.prot & ~PROT_ALL)
		return size > LWK_USER_END ? -ENOMEM : -EINVAL;
	if (placement == PLACE_ANYWHERE || placement == PLACE_LOW) {
		u64 end = placement == PLACE_LOW ? LOW_END : MAPPINGS_END;

		/* The address is a hint. */
		addr = ALIGN_DOWN(addr, PAGE_SIZE);
		if (!addr || !range_valid(addr, size) || !range_free(space, addr, addr + size) ||
		    (placement == PLACE_LOW && addr + size > end))
			addr = find_room(space, size, end);
		if (!addr)
			return -ENOMEM;
	} else if (!range_valid(addr, size)) {
		return addr % PAGE_SIZE ? -EINVAL : -ENOMEM;
	} else if (placement == PLACE_REPLACE) {
		s64 error = unmap(space, addr, size);

		if (error)
			return error;
	} else if (!range_free(space, addr, addr + size)) {
		return -EEXIST;
	}
	area.start = addr;
	area.end = addr + size;
	area.sparse |= !area.shared && size > status->user_bytes;
	if (area_insert(space, &area))
		return -ENOMEM;
	return addr;
}

static s64 map(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
	       bool shared)
{
	const struct area like = { .prot = prot, .shared = shared };

	return map_like(space, addr, size, placement, &like);
}

static s64 map_shared(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
		      u64 flags, u64 fd, u64 offset)
{
	s64 at, result;

	/* The pages would be granted to this process, but the memory goes back to its parent. */
	if (this_process()->first->borrowed)
		return -ENOMEM;
	at = map(space, addr, size, prot, placement, true);
	if (at < 0)
		return at;
	spin_unlock(&space->lock);
	result = share_begin(at, ALIGN_UP(size, PAGE_SIZE), prot, flags, fd, offset);
	spin_lock(&space->lock);
	if (!result)
		return at;
	unmap(space, at, size);
	return result < 0 ? result : 0;
}

struct protection {
	u32 prot;
	bool seen;
};

static void visit_protect(struct space *space, u64 *entry, bool large, u64 argument)
{
	struct protection *protection = (struct protection *)argument;

	change_entry(entry, with_prot(*entry, protection->prot) | (large ? PTE_PS : 0),
		     &protection->seen);
}

/*
 * The pages are granted again, because a grant for reading is none for writing. They do not go by way
 * of limbo, from which another thread's fault would bring them back.
 */
static s64 protect_shared(struct space *space, u64 start, u64 end, u32 prot)
{
	s64 result;

	spin_unlock(&space->lock);
	space_revoke(space, start, end - start);
	result = share_protect(start, end - start, prot);
	spin_lock(&space->lock);
	return result;
}

static s64 protect(struct space *space, u64 addr, u64 size, u32 prot)
{
	struct protection protection = { .prot = prot };
	struct area *area;
	u64 end;

	size = ALIGN_UP(size, PAGE_SIZE);
	if (addr % PAGE_SIZE || prot & ~PROT_ALL)
		return -EINVAL;
	if (!size)
		return 0;
	end = addr + size;
	if (!range_mapped(space, addr, end) || range_stays(space, addr, end) ||
	    split_edges(space, addr, end))
		return -ENOMEM;
	for (area = area_from(space, addr); area && area->start < end; area = area->next) {
		s64 error = area->shared ? protect_shared(space, area->start, area->end, prot) : 0;

		if (error)
			return error;
		area->prot = prot;
	}
	visit_pages(space, addr, end, visit_protect, (u64)&protection);
	area = area_at(space, addr);
	for (area = area->previous ? area->previous : area; area && area->start <= end;
	     area = area->next)
		area_join(space, area);
	tlb_flush_everywhere(space);
	if (protection.seen)
		hide_from_proxy(space, addr, end);
	space_publish(space);
	return 0;
}

static s64 discard(struct space *space, u64 addr, u64 size)
{
	const struct area *area = area_at(space, addr);
	u64 end = addr + ALIGN_UP(size, PAGE_SIZE);

	/* The area stays as it is; only large pages at the edges are split. */
	if (!range_valid(addr, end - addr) || !area || area->end < end ||
	    (addr % LARGE_SIZE && large_split(space, addr)) ||
	    (end % LARGE_SIZE && large_split(space, end)))
		return -ENOMEM;
	/* Shared pages have their contents from a file. */
	if (!area->shared)
		pages_give_back(space, addr, end);
	space_publish(space);
	return 0;
}

static void visit_revive(struct space *space, u64 *entry, bool large, u64 argument)
{
	page_revive(entry);
}

/*
 * Moves an area to 'place', or with neither MREMAP_FIXED nor room there to where there is room, and
 * gives it its new size. With MREMAP_DONTUNMAP the old range stays and is empty.
 */
static s64 move(struct space *space, u64 addr, u64 old_size, u64 new_size, u64 place, u32 flags)
{
	struct area *area = area_at(space, addr), like = *area, *target;
	s64 to;
	int error;

	like.offset += addr - area->start;
	to = map_like(space, place, new_size, flags & MREMAP_FIXED ? PLACE_REPLACE : PLACE_ANYWHERE,
		      &like);
	if (to < 0)
		return to;
	error = split_for_move(space, addr, to, old_size);
	if (!error)
		error = split_edges(space, to, to + new_size);
	if (!error) {
		/*
		 * With no access allowed, no fault revives a page, or makes one in its new place,
		 * while they move.
		 */
		area = area_at(space, addr);
		target = area_at(space, to);
		area->prot = target->prot = 0;
		pages_to_limbo(space, addr, addr + old_size);
		error = move_pages(space, addr, to, old_size);
		if (error)
			/* The pages that have moved go back, into tables that exist. */
			move_pages(space, to, addr, old_size);
		area->prot = target->prot = like.prot;
		visit_pages(space, error ? addr : (u64)to, (error ? addr : (u64)to) + old_size,
			    visit_revive, 0);
	}
	if (error) {
		unmap(space, to, new_size);
		return -ENOMEM;
	}
	if (!(flags & MREMAP_DONTUNMAP))
		unmap(space, addr, old_size);
	return to;
}

/* True when a new range at 'to' is valid and does not overlap the old one, which is valid. */
static bool may_move_to(u64 addr, u64 old_size, u64 new_size, u64 to)
{
	return to % PAGE_SIZE == 0 && new_size <= LWK_USER_END && to <= LWK_USER_END - new_size &&
	       (to + new_size <= addr || addr + old_size <= to);
}

static s64 resize(struct space *space, u64 addr, u64 old_size, u64 new_size, u32 flags, u64 place)
{
	struct area *area = area_at(space, addr), like;
	bool keep = flags & MREMAP_DONTUNMAP, elsewhere = keep || flags & MREMAP_FIXED;
	s64 to;

	old_size = ALIGN_UP(old_size, PAGE_SIZE);
	new_size = ALIGN_UP(new_size, PAGE_SIZE);
	if (addr % PAGE_SIZE || !old_size || !new_size || (keep && old_size != new_size))
		return -EINVAL;
	if (!range_valid(addr, old_size) || !area || area->end < addr + old_size)
		return -EFAULT;
	/* The mapping that stays behind would have the file's contents once more. */
	if ((elsewhere && !may_move_to(addr, old_size, new_size, place)) ||
	    (keep && (area->shared || area->file)))
		return -EINVAL;
	if ((elsewhere || new_size > old_size) &&
	    (area->shared || (never_fits(new_size, area->prot) && !area->sparse)))
		return -ENOMEM;
	if ((keep && over_limit(space, new_size)) ||
	    (new_size > old_size && over_limit(space, new_size - old_size)) ||
	    (new_size < old_size && unmap(space, addr + new_size, old_size - new_size)))
		return -ENOMEM;
	old_size = MIN(old_size, new_size);
	if (!elsewhere && new_size == old_size)
		return addr;
	if (!elsewhere && range_valid(addr, new_size) && area->end == addr + old_size &&
	    range_free(space, addr + old_size, addr + new_size)) {
		like = *area;
		like.offset += area->end - area->start;
		to = map_like(space, area->end, new_size - old_size, PLACE_EXACT, &like);
		return to < 0 ? to : (s64)addr;
	}
	if (!(flags & MREMAP_MAYMOVE))
		return -ENOMEM;
	return move(space, addr, old_size, new_size, elsewhere ? place : 0, flags);
}

static u64 set_brk(struct space *space, u64 brk)
{
	u64 old_end = ALIGN_UP(space->brk, PAGE_SIZE), new_end = ALIGN_UP(brk, PAGE_SIZE);

	if (brk < space->brk_start || brk > LWK_USER_END ||
	    (new_end > old_end && over_limit(space, new_end - old_end)) ||
	    never_fits(new_end - space->brk_start, PROT_READ))
		return space->brk;
	if (new_end > old_end &&
	    map(space, old_end, new_end - old_end, PROT_READ | PROT_WRITE, PLACE_EXACT, false) < 0)
		return space->brk;
	if (new_end < old_end && unmap(space, new_end, old_end - new_end))
		return space->brk;
	space->brk = brk;
	return brk;
}

s64 space_map(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
	      bool overcommit)
{
	/* As by Linux's heuristic, a size that can never be had is refused at once. */
	if (!overcommit && never_fits(size, prot))
		return -ENOMEM;
	return CHANGED(space, over_limit(space, size)
				      ? -ENOMEM
				      : map(space, addr, size, prot, placement, false));
}

s64 space_map_shared(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
		     u64 flags, u64 fd, u64 offset)
{
	return CHANGED(space, over_limit(space, size) ? -ENOMEM
						      : map_shared(space, addr, size, prot,
								   placement, flags, fd, offset));
}

s64 space_unmap(struct space *space, u64 addr, u64 size)
{
	return CHANGED(space, unmap(space, addr, size));
}

s64 space_protect(struct space *space, u64 addr, u64 size, u32 prot)
{
	return CHANGED(space, protect(space, addr, size, prot));
}

s64 space_discard(struct space *space, u64 addr, u64 size)
{
	return CHANGED(space, discard(space, addr, size));
}

s64 space_resize(struct space *space, u64 addr, u64 old_size, u64 new_size, u32 flags, u64 place)
{
	return CHANGED(space, resize(space, addr, old_size, new_size, flags, place));
}

u64 space_set_brk(struct space *space, u64 brk)
{
	return CHANGED(space, set_brk(space, brk));
}

static s64 reserve(struct space *space, u64 addr, u64 size)
{
	const struct area area = { .start = addr, .end = addr + size, .reserved = true };

	if (!size || size % PAGE_SIZE || !range_valid(addr, size) ||
	    !range_free(space, addr, area.end))
		return -EINVAL;
	return area_insert(space, &area);
}

s64 space_reserve(struct space *space, u64 addr, u64 size)
{
	return CHANGED(space, reserve(space, addr, size));
}

void space_set_file(struct space *space, u64 addr, u64 size, u32 file, u64 offset)
{
	u64 end = addr + ALIGN_UP(size, PAGE_SIZE);

	change_begin(space);
	/* Without memory for a split, the mapping has no name. */
	if (range_valid(addr, end - addr) && !split_edges(space, addr, end))
		for (struct area *area = area_from(space, addr); area && area->start < end;
		     area = area->next) {
			area->file = file;
			area->offset = offset + (area->start - addr);
		}
	change_end(space);
}

static s64 set_fork(struct space *space, u64 addr, u64 size, enum at_fork how)
{
	u64 end = addr + size;

	if (!size)
		return 0;
	if (!range_mapped(space, addr, end) || split_edges(space, addr, end))
		return -ENOMEM;
	for (struct area *area = area_from(space, addr); area && area->start < end;
	     area = area->next) {
		/* A child's proxy has the file in any case. */
		if (area->shared && how == FORK_WIPES)
			return -EINVAL;
		area->at_fork = area->shared ? FORK_COPIES : how;
	}
	return 0;
}

s64 space_set_fork(struct space *space, u64 addr, u64 size, enum at_fork how)
{
	return CHANGED(space, set_fork(space, addr, size, how));
}

struct nodes {
	u64 wanted;
	bool others;
};

static void visit_nodes(struct space *space, u64 *entry, bool large, u64 argument)
{
	struct nodes *nodes = (struct nodes *)argument;

	if (!(*entry & PTE_GRANTED) && !(nodes->wanted & 1UL << user_page_node(*entry & PTE_ADDR)))
		nodes->others = true;
}

static s64 set_policy(struct space *space, u64 start, u64 end, const struct policy *policy)
{
	if (!range_mapped(space, start, end))
		return -EFAULT;
	/* No large page may be in two areas, because a copy of the areas would copy it twice. */
	if (split_edges(space, start, end))
		return -ENOMEM;
	for (struct area *area = area_at(space, start); area && area->start < end;
	     area = area->next)
		area->policy = *policy;
	return 0;
}

s64 space_set_policy(struct space *space, u64 addr, u64 size, const struct policy *policy,
		     bool strict)
{
	struct nodes nodes = { policy->nodes, false };
	s64 error;

	change_begin(space);
	error = set_policy(space, addr, addr + size, policy);
	if (!error && strict && policy->nodes)
		visit_pages(space, addr, addr + size, visit_nodes, (u64)&nodes);
	change_end(space);
	return error ? error : nodes.others ? -EIO : 0;
}
