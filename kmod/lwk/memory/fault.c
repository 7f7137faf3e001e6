/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/fault.h"

#include <linux/errno.h>
#include <linux/mman.h>

#include "abi/shared/grant.h"
#include "abi/shared/layout.h"
#include "lwk/base/lock.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/change.h"
#include "lwk/memory/direct_map.h"
#include "lwk/memory/limbo.h"
#include "lwk/memory/pages.h"
#include "lwk/memory/peephole.h"
#include "lwk/memory/policy.h"
#include "lwk/memory/share.h"
#include "lwk/memory/tables.h"
#include "lwk/memory/tlb.h"
#include "lwk/process/process.h"

/* A page for a fault, taken before it is certain that it is needed; phys 0: none. */
struct spare {
	u64 phys;
	bool large;
	bool no_large; /* no large page is left */
	struct choice choice;
};

static void spare_free(struct spare *spare)
{
	if (spare->phys && spare->large)
		user_large_free(spare->phys);
	else if (spare->phys)
		user_page_free(spare->phys);
	spare->phys = 0;
}

static int spare_take(struct spare *spare, bool large)
{
	spare_free(spare);
	spare->large = large;
	spare->phys = large ? user_large_alloc(spare->choice) : user_page_alloc(spare->choice);
	if (large && !spare->phys)
		spare->no_large = true;
	return large || spare->phys ? 0 : -ENOMEM;
}

enum { NEEDS_SPARE = 1, NEEDS_GRANT };

/*
 * Makes the page at addr present, with the spare one if there was none. 0; -EFAULT; -ENOMEM;
 * NEEDS_SPARE: a page is needed, a large one if *large; NEEDS_GRANT: the page is Linux's.
 */
static int make_present(struct space *space, u64 addr, bool write, bool exec, struct spare *spare,
			bool *large)
{
	struct area *area = addr < LWK_USER_END ? area_at(space, addr) : NULL;
	u64 base = ALIGN_DOWN(addr, LARGE_SIZE), *entry;

	if (!area || !area->prot || (write && !(area->prot & PROT_WRITE)) ||
	    (exec && !(area->prot & PROT_EXEC)))
		return -EFAULT;
	entry = entry_at(space, addr, 2, true);
	if (!entry)
		return -ENOMEM;
	if (is_page(*entry) && *entry & PTE_PS) {
		page_revive(entry);
		return 0;
	}
	*large = !(*entry & PTE_P) && !area->shared && !area->sparse && area->start <= base &&
		 area->end >= base + LARGE_SIZE && !spare->no_large;
	if (!*large) {
		entry = entry_at(space, addr, 1, true);
		if (!entry)
			return -ENOMEM;
		if (is_page(*entry) && (!write || !(*entry & PTE_GRANTED) || *entry & PTE_W)) {
			page_revive(entry);
			return 0;
		}
	}
	if (area->shared)
		return NEEDS_GRANT;
	if (!spare->phys || spare->large != *large) {
		spare->choice = area_choice(area, addr);
		return NEEDS_SPARE;
	}
	*entry = spare->phys | (*large ? PTE_PS : 0) | prot_bits(area->prot);
	spare->phys = 0;
	space->pages_2m += *large;
	space->pages_4k += !*large;
	space_publish(space);
	return 0;
}

/*
 * Maps the pages that Linux grants from addr on, if they are not mapped yet. What was granted and
 * revoked before it could be mapped is fetched again. 0, -EIO, -ENOMEM
 */
static int fetch(struct space *space, const struct area *area, u64 addr, bool write)
{
	u64 revoked = space->revoked;
	const __u64 *pages;
	s64 n;

	spin_unlock(&space->lock);
	n = share_pin(addr, (area->end - addr) / PAGE_SIZE,
		      !(area->prot & PROT_WRITE) ? LWK_GRANT_READ
		      : write			 ? LWK_GRANT_WRITE
						 : LWK_GRANT_MAY_WRITE,
		      &pages);
	spin_lock(&space->lock);
	if (space->revoked != revoked)
		return 0;
	for (s64 i = 0; i < n; i++) {
		u64 *entry = entry_at(space, addr + i * PAGE_SIZE, 1, true);
		u32 prot = area->prot & ~(pages[i] & LWK_GRANT_WRITABLE ? 0 : PROT_WRITE);

		if (!entry)
			return -ENOMEM;
		if (!is_page(*entry) || prot & PROT_WRITE)
			*entry = (pages[i] & PTE_ADDR) | PTE_GRANTED | prot_bits(prot);
	}
	return n > 0 ? 0 : -EIO;
}

static void visit_revoke(struct space *space, u64 *entry, bool large, u64 argument)
{
	if (*entry & PTE_GRANTED)
		*entry = 0;
}

void space_revoke(struct space *space, u64 addr, u64 size)
{
	spin_lock(&space->lock);
	space->revoked++;
	if (range_valid(addr, size))
		visit_pages(space, addr, addr + size, visit_revoke, 0);
	tlb_flush_everywhere(space);
	spin_unlock(&space->lock);
}

/*
 * Fetches the page at addr, unless another thread has fetched it or changed the mapping meanwhile.
 * 0: look again; -EIO, -ENOMEM
 */
static int fetch_page(struct space *space, u64 addr, bool write)
{
	struct area *area;
	u64 *entry;
	int error = 0;

	addr = ALIGN_DOWN(addr, PAGE_SIZE);
	change_begin(space);
	area = area_at(space, addr);
	entry = entry_at(space, addr, 1, false);
	if (area && area->shared && area->prot && (!write || area->prot & PROT_WRITE) &&
	    !(entry && is_page(*entry) && (!write || *entry & PTE_W)))
		error = fetch(space, area, addr, write);
	change_end(space);
	return error;
}

/* Does space_fault() if 'fetches', else space_fault_here(). After a 0 the lock is still held. */
static int fault_and_hold(struct space *space, u64 addr, bool write, bool exec, bool fetches)
{
	struct spare spare = { 0 };
	bool large = false;
	int result;

	for (;;) {
		spin_lock(&space->lock);
		result = make_present(space, addr, write, exec, &spare, &large);
		if (result == 0)
			break;
		spin_unlock(&space->lock);
		if (result == NEEDS_SPARE)
			result = spare_take(&spare, large);
		else if (result == NEEDS_GRANT)
			result = fetches ? fetch_page(space, addr, write) : -EFAULT;
		if (result)
			break;
	}
	/* A spare page is left when another CPU was faster. */
	spare_free(&spare);
	return result;
}

int space_fault(struct space *space, u64 addr, bool write, bool exec)
{
	int error = fault_and_hold(space, addr, write, exec, true);

	if (!error)
		spin_unlock(&space->lock);
	return error;
}

int space_fault_here(struct space *space, u64 addr, bool write)
{
	int error = fault_and_hold(space, addr, write, false, false);

	if (!error)
		spin_unlock(&space->lock);
	return error;
}

int space_populate(struct space *space, u64 addr, u64 size)
{
	for (u64 a = addr; a < addr + size; a += PAGE_SIZE) {
		int error = space_fault(space, a, false, false);

		if (error)
			return error;
		if (a % LARGE_SIZE == 0)
			process_goes_on();
	}
	return 0;
}

static void *hold(struct space *space, u64 addr, bool write, bool fetches)
{
	u64 *entry;

	if (fault_and_hold(space, addr, write, false, fetches))
		return NULL;
	entry = entry_at(space, addr, 2, false);
	if (*entry & PTE_PS)
		return phys_to_virt((*entry & PTE_ADDR) + addr % LARGE_SIZE);
	entry = entry_at(space, addr, 1, false);
	if (*entry & PTE_GRANTED)
		return (u8 *)peephole_open(*entry & PTE_ADDR, write) + addr % PAGE_SIZE;
	return phys_to_virt((*entry & PTE_ADDR) + addr % PAGE_SIZE);
}

void *space_hold(struct space *space, u64 addr, bool write)
{
	return hold(space, addr, write, true);
}

void *space_hold_here(struct space *space, u64 addr, bool write)
{
	return hold(space, addr, write, false);
}

void space_release(struct space *space)
{
	peephole_close();
	spin_unlock(&space->lock);
}

s64 space_node_held(struct space *space, u64 addr)
{
	u64 *entry = entry_at(space, addr, 2, false);

	if (!(*entry & PTE_PS))
		entry = entry_at(space, addr, 1, false);
	return *entry & PTE_GRANTED ? -EFAULT : (s64)user_page_node(*entry & PTE_ADDR);
}
