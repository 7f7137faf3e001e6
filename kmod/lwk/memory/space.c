/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/space.h"

#include <linux/errno.h>

#include "abi/shared/layout.h"
#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/paging/peephole.h"
#include "lwk/paging/tables.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/time/vdso-image.h"
#include "lwk/watch/account.h"
#include "lwk/watch/panic.h"

static u64 kernel_root;

/* The level-4 entry for the clock and the vDSO, behind LWK_USER_END, in every space. */
static u64 common_entry;

static void common_setup(struct space *kernel)
{
	u64 bytes = vdso_end - vdso_start, *entries = entry_at(kernel, LWK_CLOCK_VADDR, 1, true);
	u8 *vdso = kernel_boot_alloc(bytes);

	memcpy(vdso, vdso_start, bytes);
	if (!entries)
		panic("no room for a page table");
	entries[0] = boot->clock | PTE_P | PTE_U | PTE_NX;
	for (u64 at = 0; at < bytes; at += PAGE_SIZE)
		*++entries = virt_to_phys(vdso + at) | PTE_P | PTE_U;
	common_entry = *entry_at(kernel, LWK_CLOCK_VADDR, 4, false);
}

void space_setup(void)
{
	struct space kernel = { .root = kernel_root = read_cr3() & PTE_ADDR };

	peephole_setup(&kernel);
	common_setup(&kernel);
}

int space_init(struct space *space)
{
	u64 *root = kernel_page_alloc(), *kernel = phys_to_virt(kernel_root), *common;

	memset(space, 0, sizeof(*space));
	if (!root)
		return -ENOMEM;
	/* The upper half is the kernel's, the same in every space. */
	memcpy(root + ENTRIES / 2, kernel + ENTRIES / 2, PAGE_SIZE / 2);
	space->root = virt_to_phys(root);
	common = entry_at(space, LWK_CLOCK_VADDR, 4, true);
	if (!common) {
		kernel_page_free(root);
		space->root = 0;
		return -ENOMEM;
	}
	*common = common_entry;
	return 0;
}

void space_activate(const struct space *space)
{
	this_slot()->cpu->tlb_seen = LOAD_ACQUIRE(space->tlb_generation);
	write_cr3(space->root);
}

void space_leave(void)
{
	write_cr3(kernel_root);
}

bool space_is_active(void)
{
	return read_cr3() != kernel_root;
}

static void tables_free(struct space *space, u64 *table, unsigned int level)
{
	unsigned int n = level == table_levels() ? ENTRIES / 2 : ENTRIES;

	for (unsigned int i = 0; i < n; i++) {
		bool page = level == 1 || (level == 2 && table[i] & PTE_PS);

		if (page && is_page(table[i]))
			page_free(space, &table[i], level == 2);
		else if (!page && table[i] & PTE_P &&
			 (table[i] & PTE_ADDR) != (common_entry & PTE_ADDR))
			tables_free(space, phys_to_virt(table[i] & PTE_ADDR), level - 1);
	}
	kernel_page_free(table);
	still_alive();
	slot_run_urgent();
}

void space_destroy(struct space *space)
{
	tables_free(space, phys_to_virt(space->root), table_levels());
	space_publish(space);
	for (void *page = space->area_pages, *next; page; page = next) {
		next = *(void **)page;
		kernel_page_free(page);
	}
	memset(space, 0, sizeof(*space));
}

void space_move(struct space *to, struct space *from)
{
	*to = *from;
	memset(from, 0, sizeof(*from));
}

void space_resume(struct space *space)
{
	space_activate(space);
	WRITE_ONCE(this_slot()->control->page_root, space->root);
	space_publish(space);
}

void space_publish(struct space *space)
{
	u64 bytes = space->pages_4k * PAGE_SIZE + space->pages_2m * LARGE_SIZE;

	space->peak_bytes = MAX(space->peak_bytes, bytes);
	user_pages_publish(space);
}
