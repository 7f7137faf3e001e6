/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/fault.h"

#include <linux/errno.h>
#include <linux/mman.h>

#include "abi/shared/grant.h"
#include "abi/shared/layout.h"
#include "lwk/base/string.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/change.h"
#include "lwk/memory/policy.h"
#include "lwk/memory/share.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/limbo.h"
#include "lwk/paging/pages.h"
#include "lwk/paging/peephole.h"
#include "lwk/paging/tables.h"
#include "lwk/paging/tlb.h"
#include "lwk/process/slot.h"

/* A page for a fault, taken before it is certain that it is needed; phys 0: none. */
struct spare {
	u64 phys;
	bool large;
	bool no_large; /* no large page is left */
	bool for_copy; /* its contents do not matter */
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
	spare->phys = user_page_alloc(spare->choice, large, spare->for_copy);
	if (large && !spare->phys)
		spare->no_large = true;
	return large || spare->phys ? 0 : -ENOMEM;
}

enum { NEEDS_SPARE = 1, NEEDS_GRANT, NEEDS_HIDING };

/*
 * Makes a page, which the process may write to, its own: in place if no other process has it any
 * more, else a copy in the spare page. Copies 4 KB of a large page. 0; -ENOMEM; NEEDS_SPARE: a page
 * of 4 KB; NEEDS_HIDING: the proxy still sees the page.
 */
static int make_own(struct space *space, const struct area *area, u64 addr, struct spare *spare)
{
	u64 *entry = page_entry(space, addr), old;
	bool large = *entry & PTE_PS;

	if (!user_page_is_shared(*entry & PTE_ADDR, large)) {
		/* lwkpart.ko may mark the entry just now. */
		__atomic_and_fetch(entry, ~LWK_PTE_COPY, __ATOMIC_RELAXED);
		__atomic_or_fetch(entry, PTE_W, __ATOMIC_RELEASE);
		return 0;
	}
	/* The old page must go from the TLBs of the process's own CPUs, and from its proxy. */
	if (this_slot()->visited)
		return -EFAULT;
	if (!spare->phys || spare->large || !spare->for_copy) {
		spare->choice = area_choice(area, addr);
		spare->for_copy = true;
		return NEEDS_SPARE;
	}
	if (*entry & LWK_PTE_SEEN_BY_LINUX)
		return NEEDS_HIDING;
	if (large && large_split(space, addr))
		return -ENOMEM;
	entry = entry_at(space, addr, 1, false);
	/* No CPU may write to the old page, or read it, once there is a copy. */
	old = __atomic_exchange_n(entry, (*entry & ~PTE_P) | PTE_LIMBO, __ATOMIC_ACQ_REL);
	tlb_flush_everywhere(space);
	if (old & LWK_PTE_SEEN_BY_LINUX) {
		STORE_RELEASE(*entry, old);
		return NEEDS_HIDING;
	}
	memcpy(phys_to_virt(spare->phys), phys_to_virt(old & PTE_ADDR), PAGE_SIZE);
	STORE_RELEASE(*entry, spare->phys | prot_bits(area->prot));
	spare->phys = 0;
	user_page_free(old & PTE_ADDR);
	return 0;
}

/*
 * A page is there. Brings it back if it is in limbo, and makes it the process's own if that writes.
 * Results as of make_own().
 */
static int use_page(struct space *space, const struct area *area, u64 addr, u64 *entry, bool write,
		    struct spare *spare, bool *large)
{
	/* hide_page() has it, and must not find a copy in its place. */
	if (*entry & LWK_PTE_COPY && !(*entry & PTE_P))
		return NEEDS_HIDING;
	page_revive(entry);
	if (!write || !(*entry & LWK_PTE_COPY))
		return 0;
	*large = false;
	return make_own(space, area, addr, spare);
}

/*
 * Makes the page at addr present, with the spare one if there was none. 0; -EFAULT; -ENOMEM;
 * NEEDS_SPARE: a page is needed, a large one if *large; NEEDS_GRANT: the page is Linux's;
 * NEEDS_HIDING: the proxy must lose its view of the page.
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
	if (is_page(*entry) && *entry & PTE_PS)
		return use_page(space, area, addr, entry, write, spare, large);
	*large = !(*entry & PTE_P) && !area->shared && !area->sparse && area->start <= base &&
		 area->end >= base + LARGE_SIZE && !spare->no_large;
	if (!*large) {
		entry = entry_at(space, addr, 1, true);
		if (!entry)
			return -ENOMEM;
		if (is_page(*entry) &&
		    (!(*entry & PTE_GRANTED) || (*entry & PTE_P && (!write || *entry & PTE_W))))
			return use_page(space, area, addr, entry, write, spare, large);
	}
	if (area->shared)
		return NEEDS_GRANT;
	if (!spare->phys || spare->large != *large || spare->for_copy) {
		spare->choice = area_choice(area, addr);
		spare->for_copy = false;
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
 * Maps the pages that Linux grants from addr on, if they are not mapped yet. A page that is revoked
 * before it can be mapped is fetched again. 0, -EIO, -ENOMEM
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
		u64 bits = prot_bits(area->prot) & ~(pages[i] & LWK_GRANT_WRITABLE ? 0 : PTE_W);

		if (!entry)
			return -ENOMEM;
		if (!(*entry & PTE_P) || bits & PTE_W)
			*entry = (pages[i] & PTE_ADDR) | PTE_GRANTED | bits;
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
	/* Memory that is lent has no pages of others. */
	if (space->root && range_valid(addr, size))
		visit_pages(space, addr, addr + size, visit_revoke, 0);
	tlb_flush_everywhere(space);
	spin_unlock(&space->lock);
}

bool space_revoke_all(struct space *space)
{
	bool found = false;

	for (const struct area *area = space->areas; area; area = area->next) {
		if (area->shared)
			space_revoke(space, area->start, area->end - area->start);
		found |= area->shared;
	}
	return found;
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
	    !(entry && *entry & PTE_P && (!write || *entry & PTE_W)))
		error = fetch(space, area, addr, write);
	change_end(space);
	return error;
}

/* Has the proxy lose its view of the page at addr, which is in limbo meanwhile. */
static void hide_page(struct space *space, u64 addr)
{
	u64 *entry, size;

	change_begin(space);
	entry = page_entry(space, addr);
	/* Another thread may have done it, and more. */
	if (entry && is_page(*entry) && *entry & LWK_PTE_COPY &&
	    (!(*entry & PTE_P) || *entry & LWK_PTE_SEEN_BY_LINUX)) {
		size = *entry & PTE_PS ? LARGE_SIZE : PAGE_SIZE;
		addr = ALIGN_DOWN(addr, size);
		pages_to_limbo(space, addr, addr + size);
		page_revive(entry);
	}
	change_end(space);
}

/* Does space_fault(). After a 0 the lock is still held. */
static int fault_and_hold(struct space *space, u64 addr, bool write, bool exec, bool asks)
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
		/* The process may end while it waits for its proxy. */
		if (result != NEEDS_SPARE)
			spare_free(&spare);
		if (result == NEEDS_SPARE)
			result = spare_take(&spare, large);
		else if (result == NEEDS_GRANT)
			result = asks ? fetch_page(space, addr, write) : -EFAULT;
		else if (result == NEEDS_HIDING)
			result = asks ? (hide_page(space, addr), 0) : -EAGAIN;
		if (result)
			break;
	}
	/* A spare page is left when another CPU was faster. */
	spare_free(&spare);
	return result;
}

int space_fault(struct space *space, u64 addr, bool write, bool exec, bool asks)
{
	int error = fault_and_hold(space, addr, write, exec, asks);

	if (!error)
		spin_unlock(&space->lock);
	return error;
}

int space_populate(struct space *space, u64 addr, u64 size)
{
	for (u64 a = addr; a < addr + size; a += PAGE_SIZE) {
		int error = space_fault(space, a, false, false, true);

		if (error)
			return error;
		if (a % LARGE_SIZE == 0)
			process_goes_on();
	}
	return 0;
}

void *space_hold(struct space *space, u64 addr, bool write, bool asks)
{
	u64 needed = PTE_P | PTE_U | (write ? PTE_W : 0), *entry = NULL;

	spin_lock(&space->lock);
	if (space->root && addr < LWK_USER_END)
		entry = page_entry(space, addr);
	/* A page that the program itself could use needs nothing. */
	if (!entry || (*entry & needed) != needed) {
		spin_unlock(&space->lock);
		if (fault_and_hold(space, addr, write, false, asks))
			return NULL;
		entry = page_entry(space, addr);
	}
	if (*entry & PTE_GRANTED)
		return (u8 *)peephole_open(*entry & PTE_ADDR, write) + addr % PAGE_SIZE;
	return phys_to_virt((*entry & PTE_ADDR) +
			    (addr & ((*entry & PTE_PS ? LARGE_SIZE : PAGE_SIZE) - 1)));
}

s64 space_page(struct space *space, u64 addr)
{
	s64 page = -EFAULT;
	u64 *entry;

	spin_lock(&space->lock);
	if (addr < LWK_USER_END && area_at(space, addr)) {
		entry = page_entry(space, addr);
		page = !entry || !is_page(*entry) ? -ENOENT
		       : *entry & PTE_GRANTED	  ? PAGE_OF_LINUX
						  : (s64)user_page_node(*entry & PTE_ADDR);
	}
	spin_unlock(&space->lock);
	return page;
}
