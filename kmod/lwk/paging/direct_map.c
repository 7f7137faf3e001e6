/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lwkpart.ko maps the direct map with large pages, all of it writable. Where that is too much, the
 * large pages become small ones. Entries are changed in the tables that the CPUs boot with, which
 * all spaces share; a CPU forgets the former ones when it enters a space.
 */
#include "lwk/paging/direct_map.h"

#include "lwk/base/lock.h"
#include "lwk/machine/x86.h"
#include "lwk/paging/pages.h"
#include "lwk/paging/tables.h"

/* The linker's: what is executed and read only, and the rest. */
extern u8 image_start[], image_written[];

static struct spinlock lock;

/* Maps what a large page maps by a table of smaller ones. */
static void split(u64 *entry, unsigned int level)
{
	u64 *table = kernel_boot_alloc(PAGE_SIZE), old = *entry;
	u64 bytes = PAGE_SIZE << 9 * (level - 2);

	for (u64 i = 0; i < ENTRIES; i++)
		table[i] = (level == 2 ? old & ~PTE_PS : old) + i * bytes;
	*entry = virt_to_phys(table) | PTE_P | PTE_W;
}

/* Returns the entry of a page of 4 KB. */
static u64 *small_entry(u64 addr)
{
	u64 *table = phys_to_virt(read_cr3() & PTE_ADDR);

	for (unsigned int level = table_levels(); level > 1; level--) {
		u64 *entry = &table[table_index(addr, level)];

		if (*entry & PTE_PS)
			split(entry, level);
		table = phys_to_virt(*entry & PTE_ADDR);
	}
	return &table[table_index(addr, 1)];
}

static void take_away(u64 addr, u64 bits)
{
	spin_lock(&lock);
	*small_entry(addr) &= ~bits;
	spin_unlock(&lock);
	invalidate_page(addr);
}

void *direct_map_stack(size_t size)
{
	u8 *pages = kernel_boot_alloc(PAGE_SIZE + size);

	take_away((u64)pages, PTE_P);
	return pages + PAGE_SIZE;
}

void *direct_map_of(const void *image)
{
	return phys_to_virt(*small_entry((u64)image) & PTE_ADDR);
}

void direct_map_protect_image(void)
{
	for (const u8 *page = image_start; page < image_written; page += PAGE_SIZE)
		take_away((u64)direct_map_of(page), PTE_W);
}
