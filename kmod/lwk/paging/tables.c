/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/paging/tables.h"

#include <linux/errno.h>

#include "abi/shared/orders.h"
#include "lwk/memory/areas.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/paging/tlb.h"
#include "lwk/watch/account.h"

u64 *entry_at(struct space *space, u64 addr, unsigned int level, bool make)
{
	u64 *table = phys_to_virt(space->root);

	for (unsigned int l = table_levels(); l > level; l--) {
		u64 *entry = &table[table_index(addr, l)];

		if (!(*entry & PTE_P)) {
			void *page = make ? kernel_page_alloc() : NULL;

			if (!page)
				return NULL;
			*entry = virt_to_phys(page) | PTE_P | PTE_W | PTE_U;
		} else if (*entry & PTE_PS) {
			return NULL;
		}
		table = phys_to_virt(*entry & PTE_ADDR);
	}
	return &table[table_index(addr, level)];
}

int large_split(struct space *space, u64 addr)
{
	u64 *entry = entry_at(space, addr, 2, false), *table, old;

	if (!entry || !(*entry & PTE_P) || !(*entry & PTE_PS))
		return 0;
	table = kernel_page_alloc();
	if (!table)
		return -ENOMEM;
	/*
	 * Some CPUs give up, and the machine with them, when they fetch an instruction by two pages
	 * of different size at once: all forget the large page before the small ones exist.
	 * Page faults wait for the lock. lwkpart.ko may set LWK_PTE_SEEN_BY_LINUX until then.
	 */
	old = __atomic_exchange_n(entry, (*entry & ~PTE_P) | PTE_LIMBO, __ATOMIC_ACQ_REL);
	if (!(old & PTE_NX))
		tlb_flush_everywhere(space);
	for (u64 i = 0; i < ENTRIES; i++)
		table[i] = (old & ~PTE_PS) + i * PAGE_SIZE;
	STORE_RELEASE(*entry, virt_to_phys(table) | PTE_P | PTE_W | PTE_U);
	user_large_split(old & PTE_ADDR);
	space->pages_2m--;
	space->pages_4k += ENTRIES;
	return 0;
}

int split_edges(struct space *space, u64 start, u64 end)
{
	/*
	 * If memory runs out in between, pages are smaller than need be. A large page in two areas
	 * would be copied twice at a fork.
	 */
	if ((start % LARGE_SIZE && large_split(space, start)) ||
	    (end % LARGE_SIZE && large_split(space, end)) || area_split(space, start) ||
	    area_split(space, end))
		return -ENOMEM;
	return 0;
}

u64 with_prot(u64 entry, u32 prot)
{
	u64 kept = entry & (LWK_PTE_COPY | PTE_GRANTED), bits = (entry & PTE_ADDR) | kept;

	return bits | (prot_bits(prot) & ~(kept ? PTE_W : 0));
}

u64 next_part(struct space *space, u64 addr)
{
	u64 step = LARGE_SIZE;

	for (unsigned int level = table_levels(); level > 2; level--)
		if (!(*entry_at(space, addr, level, false) & PTE_P)) {
			step = PAGE_SIZE << 9 * (level - 1);
			break;
		}
	return ALIGN_DOWN(addr, step) + step;
}

void visit_pages(struct space *space, u64 start, u64 end, page_visit visit, u64 argument)
{
	for (u64 addr = start; addr < end;) {
		u64 *entry = entry_at(space, addr, 2, false);
		u64 next = MIN(next_part(space, addr), end);

		if (entry && is_page(*entry) && *entry & PTE_PS) {
			visit(space, entry, true, argument);
		} else if (entry && *entry & PTE_P) {
			u64 *table = phys_to_virt(*entry & PTE_ADDR);

			for (u64 a = addr; a < next; a += PAGE_SIZE)
				if (is_page(table[table_index(a, 1)]))
					visit(space, &table[table_index(a, 1)], false, argument);
		}
		addr = next;
		still_alive();
	}
}

void page_free(struct space *space, u64 *entry, bool large)
{
	u64 phys = *entry & PTE_ADDR;
	bool granted = *entry & PTE_GRANTED;

	*entry = 0;
	if (granted)
		return;
	if (large) {
		space->pages_2m--;
		user_large_free(phys);
	} else {
		space->pages_4k--;
		user_page_free(phys);
	}
}
