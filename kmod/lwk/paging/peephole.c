/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/paging/peephole.h"

#include "abi/shared/layout.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/paging/tables.h"
#include "lwk/process/slot.h"
#include "lwk/watch/panic.h"

#define PEEPHOLES (LWK_LAPIC_VADDR + LARGE_SIZE)

/* The page table of the peepholes, one entry for each CPU. */
static u64 *peepholes;

void peephole_setup(struct space *kernel)
{
	peepholes = entry_at(kernel, PEEPHOLES, 1, true);
	if (!peepholes)
		panic("no room for a page table");
}

void *peephole_open(u64 phys, bool write)
{
	u32 index = this_slot()->cpu->index;

	peepholes[index] = phys | PTE_P | PTE_NX | (write ? PTE_W : 0);
	invalidate_page(PEEPHOLES + index * PAGE_SIZE);
	return (void *)(PEEPHOLES + index * PAGE_SIZE);
}

void peephole_close(void)
{
	u32 index = this_slot()->cpu->index;

	if (!peepholes[index])
		return;
	peepholes[index] = 0;
	invalidate_page(PEEPHOLES + index * PAGE_SIZE);
}
