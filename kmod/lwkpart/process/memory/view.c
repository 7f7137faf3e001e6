// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/memory/view.h"

#include <linux/io.h>
#include <linux/mm.h>

#include "abi/shared/orders.h"

static bool has_all(const struct lwk_boot_mem *range, u64 phys, u64 size)
{
	return phys >= range->start && size <= range->size &&
	       phys - range->start <= range->size - size;
}

/* The range of the partition's memory that has all of this, or NULL; 'near' is a guess, or NULL. */
static const struct lwk_boot_mem *find_range(const struct instance *instance, u64 phys, u64 size,
					     const struct lwk_boot_mem *near)
{
	unsigned int i;

	if (near && has_all(near, phys, size))
		return near;
	for (i = 0; i < instance->n_mem; i++)
		if (has_all(&instance->mem[i], phys, size))
			return &instance->mem[i];
	return NULL;
}

bool view_in_user_pool(const struct instance *instance, u64 phys, u64 size)
{
	return find_range(instance, phys, size, NULL) &&
	       (phys + size <= instance->reserve_start ||
		phys >= instance->reserve_start + instance->reserve_size);
}

bool view_find(const struct instance *instance, int slot, unsigned long addr, struct view *view)
{
	u64 table = READ_ONCE(instance->controls[slot].page_root);
	unsigned int level = pgtable_l5_enabled() ? 5 : 4;
	const struct lwk_boot_mem *range = NULL;

	for (;; level--) {
		unsigned int shift = PAGE_SHIFT + 9 * (level - 1);

		range = find_range(instance, table, PAGE_SIZE, range);
		if (table % PAGE_SIZE || !range)
			return false;
		view->entry = (u64 *)phys_to_virt(table) + (addr >> shift & 511);
		view->value = READ_ONCE(*view->entry);
		view->size = 1U << min(shift, 30U);
		if (!(view->value & _PAGE_PRESENT) || !(view->value & _PAGE_USER))
			return false;
		if (level == 1 || (level == 2 && view->value & _PAGE_PSE))
			return true;
		if (view->value & _PAGE_PSE)
			return false;
		table = view->value & PTE_PFN_MASK;
	}
}

u64 view_phys(const struct view *view, unsigned long addr)
{
	return (view->value & PTE_PFN_MASK & ~(u64)(view->size - 1)) | (addr & (view->size - 1));
}

bool view_mark_seen(const struct view *view)
{
	return view->value & LWK_PTE_SEEN_BY_LINUX ||
	       cmpxchg(view->entry, view->value, view->value | LWK_PTE_SEEN_BY_LINUX) ==
		       view->value;
}

/* The page of addr is at 'at', and marked as seen. */
static void know(struct lwk_thread *thread, u64 addr, void *at, const struct view *view)
{
	thread->page.number = addr >> PAGE_SHIFT;
	thread->page.at = (void *)((unsigned long)at & PAGE_MASK);
	thread->page.writable = view->value & _PAGE_RW;
	thread->page.hidings = thread->process->hidings;
}

unsigned int view_map(struct lwk_thread *thread, u64 addr, u64 size, bool write,
		      struct kvec *memory, unsigned int most)
{
	const struct instance *instance = thread->process->instance;
	unsigned int n = 0;
	struct view view;
	u64 phys, length;
	void *at;

	if (addr < LWK_USER_START || addr >= LWK_USER_END || size > LWK_USER_END - addr)
		return 0;
	for (; size; addr += length, size -= length) {
		if (!view_find(instance, thread->process->first.slot, addr, &view) ||
		    (write && !(view.value & _PAGE_RW)))
			return 0;
		phys = view_phys(&view, addr);
		length = min_t(u64, size, view.size - (addr & (view.size - 1)));
		if (!view_in_user_pool(instance, phys, length) || !view_mark_seen(&view))
			return 0;
		at = phys_to_virt(phys);
		know(thread, addr + length - 1, at + length - 1, &view);
		if (n && memory[n - 1].iov_base + memory[n - 1].iov_len == at) {
			memory[n - 1].iov_len += length;
			continue;
		}
		if (n == most)
			return 0;
		memory[n++] = (struct kvec){ at, length };
	}
	return n;
}
