// SPDX-License-Identifier: GPL-2.0-or-later
#include "instance/image/tables.h"

#include <linux/mm.h>
#include <linux/string.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/io.h>
#include <asm/msr.h>
#include <asm/processor.h>

#include "compat/compat.h"
#include "lending/cpu.h"

#define ENTRY_ADDRESS 0x000ffffffffff000UL

/* The levels of page tables that map pages; a page has 1 << LEVEL_SHIFT(level) bytes. */
#define LEVEL_4K 1
#define LEVEL_2M 2
#define LEVEL_1G 3
#define LEVEL_SHIFT(level) (3 + 9 * (level))

void *layout_take(struct layout *layout, u64 size)
{
	u64 at = layout->next;

	size = PAGE_ALIGN(size);
	if (size > layout->end - at)
		return NULL;
	layout->next = at + size;
	return memset(phys_to_virt(at), 0, size);
}

static u64 no_execute(void)
{
	return boot_cpu_has(X86_FEATURE_NX) ? _PAGE_NX : 0;
}

/* Does tables_map_page() in any level and with any flags of an entry. */
static int map_page(struct layout *layout, u64 address, u64 physical, u64 flags, unsigned int level)
{
	u64 *table = phys_to_virt(layout->page_root);
	unsigned int depth;

	for (depth = layout->levels; depth > level; depth--) {
		u64 *entry = &table[(address >> LEVEL_SHIFT(depth)) % PTRS_PER_PTE];

		if (!*entry) {
			void *page = layout_take(layout, PAGE_SIZE);

			if (!page)
				return -ENOMEM;
			*entry = virt_to_phys(page) | _PAGE_PRESENT | _PAGE_RW | _PAGE_ACCESSED;
		} else if (*entry & _PAGE_PSE) {
			return -ENOEXEC;
		}
		table = phys_to_virt(*entry & ENTRY_ADDRESS);
	}
	table += (address >> LEVEL_SHIFT(level)) % PTRS_PER_PTE;
	if (*table)
		return -ENOEXEC;
	*table = physical | flags | _PAGE_PRESENT | _PAGE_ACCESSED |
		 (flags & _PAGE_RW ? _PAGE_DIRTY : 0) | (level > LEVEL_4K ? _PAGE_PSE : 0);
	return 0;
}

int tables_map_page(struct layout *layout, u64 address, u64 physical, bool writable,
		    bool executable)
{
	u64 flags = (writable ? _PAGE_RW : 0) | (executable ? 0 : no_execute());

	return map_page(layout, address, physical, flags, LEVEL_4K);
}

int tables_map_direct(struct layout *layout, const struct lwk_boot_mem *mem)
{
	u64 flags = _PAGE_RW | no_execute();
	u64 at = mem->start, end = mem->start + mem->size;

	while (at < end) {
		bool huge = boot_cpu_has(X86_FEATURE_GBPAGES) && IS_ALIGNED(at, PUD_SIZE) &&
			    end - at >= PUD_SIZE;
		int error =
			map_page(layout, lwk_address(at), at, flags, huge ? LEVEL_1G : LEVEL_2M);

		if (error)
			return error;
		at += huge ? PUD_SIZE : PMD_SIZE;
	}
	return 0;
}

int tables_map_machine(struct layout *layout)
{
	u64 stub = cpu_stub_address() & PAGE_MASK, apic_base;
	int error;

	/* The stub executes while CR3 changes. The LWK may unmap it when it has been entered. */
	error = map_page(layout, stub, slow_virt_to_phys((void *)stub), 0, LEVEL_4K);
	if (error || x2apic_enabled())
		return error;
	rdmsrq(MSR_IA32_APICBASE, apic_base);
	return map_page(layout, LWK_LAPIC_VADDR, apic_base & ENTRY_ADDRESS,
			_PAGE_RW | _PAGE_PCD | _PAGE_PWT | no_execute(), LEVEL_4K);
}
