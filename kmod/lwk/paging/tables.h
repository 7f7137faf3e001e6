/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page tables. Callers hold the space's lock. */
#ifndef LWK_PAGING_TABLES_H
#define LWK_PAGING_TABLES_H

#include <linux/mman.h>

#include "lwk/base/types.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/space.h"
#include "lwk/paging/direct_map.h"

#define ENTRIES 512
/* A bit of an entry that is not present: its page is not free yet. */
#define PTE_LIMBO (1UL << 10)
/* The page is none of the partition's: the direct map does not have it. */
#define PTE_GRANTED (1UL << 11)

/* True when the entry has a page, which may be in limbo. */
static inline bool is_page(u64 entry)
{
	return entry & (PTE_P | PTE_LIMBO);
}

/* The bits of a present entry with another protection. */
u64 with_prot(u64 entry, u32 prot);
/* Returns where the next page behind addr may be: at the next 2 MB, or further if tables lack. */
u64 next_part(struct space *space, u64 addr);

/* The index of addr in a table of 'level' (1: of 4 KB pages, 2: of 2 MB). */
static inline unsigned int table_index(u64 addr, unsigned int level)
{
	return addr >> (12 + 9 * (level - 1)) & (ENTRIES - 1);
}

/* The bits of a present entry with that protection. */
static inline u64 prot_bits(u32 prot)
{
	/* PROT_NONE keeps the page and its contents, out of reach of user mode. */
	return PTE_P | (prot ? PTE_U : 0) | (prot & PROT_WRITE ? PTE_W : 0) |
	       (prot & PROT_EXEC ? 0 : PTE_NX);
}

/* 4 or 5 levels of tables. */
static inline unsigned int table_levels(void)
{
	return read_cr4() & CR4_LA57 ? 5 : 4;
}

/*
 * Returns the entry for addr at 'level', making tables on the way when
 * 'make'. NULL when there is no table, or a large page is in the way.
 */
u64 *entry_at(struct space *space, u64 addr, unsigned int level, bool make);
/* Returns the entry for the page at addr, of 2 MB with PTE_PS, else of 4 KB. NULL: no table. */
static inline u64 *page_entry(const struct space *space, u64 addr)
{
	u64 *table = phys_to_virt(space->root);

	for (unsigned int shift = 12 + 9 * (table_levels() - 1);; shift -= 9) {
		u64 *entry = &table[addr >> shift & (ENTRIES - 1)];

		if (shift == 12 || *entry & PTE_PS)
			return entry;
		if (!(*entry & PTE_P))
			return NULL;
		table = phys_to_virt(*entry & PTE_ADDR);
	}
}

/* Maps the large page at addr, if there is one, as small ones. 0 or -ENOMEM. */
int large_split(struct space *space, u64 addr);
/* Splits areas and large pages so that none is only partly in [start, end). 0 or -ENOMEM. */
int split_edges(struct space *space, u64 start, u64 end);
/*
 * Calls visit for each page of [start, end), those in limbo too. A large page at the edge that is
 * only partly inside must have been split before.
 */
typedef void (*page_visit)(struct space *space, u64 *entry, bool large, u64 argument);
void visit_pages(struct space *space, u64 start, u64 end, page_visit visit, u64 argument);

/* Gives a page back, or its grant, and clears its entry. */
void page_free(struct space *space, u64 *entry, bool large);

#endif
