/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's address space: what is mapped (areas) and the page tables.
 *
 * Pages come at the first touch: 2 MB where an area holds the whole aligned 2 MB and
 * the partition has such a page, 4 KB otherwise. Before a page is used for anything
 * else, the proxy's view of it must go: pages that lwkpart.ko has shown to the proxy
 * carry LWK_PTE_SEEN_BY_LINUX, and hide_from_proxy() asks for them back.
 */
#include "lwk.h"

/* Room between the mappings and the stack, and where a search for room starts. */
#define MAPPINGS_END (LWK_USER_END - (1UL << 40))
#define ENTRIES 512

static unsigned int levels(void)
{
	return read_cr4() & CR4_LA57 ? 5 : 4;
}

static unsigned int index_at(u64 addr, unsigned int level)
{
	return addr >> (12 + 9 * (level - 1)) & (ENTRIES - 1);
}

static u64 prot_bits(u32 prot)
{
	/* PROT_NONE keeps the page and its contents, out of reach of user mode. */
	return PTE_P | (prot ? PTE_U : 0) | (prot & PROT_WRITE ? PTE_W : 0) |
	       (prot & PROT_EXEC ? 0 : PTE_NX);
}

static void flush_tlb(void)
{
	write_cr3(read_cr3());
}

static bool range_valid(u64 addr, u64 size)
{
	return addr % PAGE_SIZE == 0 && addr >= LWK_USER_START && size <= LWK_USER_END &&
	       addr <= LWK_USER_END - size;
}

/* ---- areas ---- */

static struct area *area_alloc(struct space *space)
{
	struct area *area = space->free_areas;

	if (!area) {
		u8 *page = kernel_page_alloc();

		if (!page)
			return NULL;
		/* The first slot links the pages of this space. */
		*(void **)page = space->area_pages;
		space->area_pages = page;
		for (u64 at = sizeof(*area); at + sizeof(*area) <= PAGE_SIZE; at += sizeof(*area)) {
			struct area *slot = (struct area *)(page + at);

			slot->next = space->free_areas;
			space->free_areas = slot;
		}
		area = space->free_areas;
	}
	space->free_areas = area->next;
	return area;
}

static void area_free(struct space *space, struct area *area)
{
	area->next = space->free_areas;
	space->free_areas = area;
}

/* The link to the first area that ends behind addr. */
static struct area **area_link(struct space *space, u64 addr)
{
	struct area **link = &space->areas;

	while (*link && (*link)->end <= addr)
		link = &(*link)->next;
	return link;
}

static struct area *area_at(struct space *space, u64 addr)
{
	struct area *area = *area_link(space, addr);

	return area && area->start <= addr ? area : NULL;
}

/* Makes sure that no area spans addr. */
static int area_split(struct space *space, u64 addr)
{
	struct area *area = area_at(space, addr), *rest;

	if (!area || area->start == addr)
		return 0;
	rest = area_alloc(space);
	if (!rest)
		return -ENOMEM;
	*rest = (struct area){ area->next, addr, area->end, area->prot };
	area->end = addr;
	area->next = rest;
	return 0;
}

/* Joins an area with its successor while they are alike. */
static void area_join(struct space *space, struct area *area)
{
	struct area *next;

	while ((next = area->next) && next->start == area->end && next->prot == area->prot) {
		area->end = next->end;
		area->next = next->next;
		area_free(space, next);
	}
}

static int area_insert(struct space *space, u64 start, u64 end, u32 prot)
{
	struct area **link = area_link(space, start), *area = area_alloc(space);

	if (!area)
		return -ENOMEM;
	*area = (struct area){ *link, start, end, prot };
	*link = area;
	area_join(space, area);
	/* The predecessor too, which area_link() does not give. */
	for (struct area *before = space->areas; before != area; before = before->next) {
		if (before->next == area) {
			area_join(space, before);
			break;
		}
	}
	return 0;
}

static bool range_free(struct space *space, u64 start, u64 end)
{
	struct area *area = *area_link(space, start);

	return !area || area->start >= end;
}

/* The highest room of that size below MAPPINGS_END, or 0. */
static u64 find_room(struct space *space, u64 size)
{
	/*
	 * Aligned for large pages, if it is made of them. Other sizes are put next to each
	 * other: arrays that all start at a multiple of 2 MB compete for the same lines of
	 * caches and TLBs (Linux has the same rule since 6.7).
	 */
	u64 align = size % LARGE_SIZE == 0 ? LARGE_SIZE : PAGE_SIZE, best = 0;
	u64 floor = MAX(space->brk, LWK_USER_START);

	for (struct area *area = space->areas;; area = area->next) {
		u64 ceiling = area ? MIN(area->start, MAPPINGS_END) : MAPPINGS_END;

		if (ceiling > size && ALIGN_DOWN(ceiling - size, align) >= floor)
			best = ALIGN_DOWN(ceiling - size, align);
		if (!area || area->end >= MAPPINGS_END)
			return best;
		floor = MAX(floor, area->end);
	}
}

/* ---- page tables ---- */

/*
 * The entry for addr at 'level' (1: 4 KB, 2: 2 MB), making tables on the way when
 * 'make'. NULL when there is no table, or a large page is in the way.
 */
static u64 *entry_at(struct space *space, u64 addr, unsigned int level, bool make)
{
	u64 *table = phys_to_virt(space->root);

	for (unsigned int l = levels(); l > level; l--) {
		u64 *entry = &table[index_at(addr, l)];

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
	return &table[index_at(addr, level)];
}

static int large_split(struct space *space, u64 addr)
{
	u64 *entry = entry_at(space, addr, 2, false), *table, bits;

	if (!entry || !(*entry & PTE_P) || !(*entry & PTE_PS))
		return 0;
	table = kernel_page_alloc();
	if (!table)
		return -ENOMEM;
	bits = *entry & ~PTE_PS;
	for (u64 i = 0; i < ENTRIES; i++)
		table[i] = bits + i * PAGE_SIZE;
	*entry = virt_to_phys(table) | PTE_P | PTE_W | PTE_U;
	user_large_split(bits & PTE_ADDR);
	space->pages_2m--;
	space->pages_4k += ENTRIES;
	return 0;
}

/*
 * Calls visit for each present page of [start, end). A large page at the edge that is
 * only partly inside must have been split before.
 */
typedef void (*page_visit)(struct space *space, u64 *entry, bool large, u64 argument);

static void visit_pages(struct space *space, u64 start, u64 end, page_visit visit, u64 argument)
{
	for (u64 addr = start; addr < end;) {
		u64 *entry = entry_at(space, addr, 2, false);
		u64 next = MIN(ALIGN_DOWN(addr, LARGE_SIZE) + LARGE_SIZE, end);

		if (entry && *entry & PTE_P && *entry & PTE_PS) {
			visit(space, entry, true, argument);
		} else if (entry && *entry & PTE_P) {
			u64 *table = phys_to_virt(*entry & PTE_ADDR);

			for (u64 a = addr; a < next; a += PAGE_SIZE)
				if (table[index_at(a, 1)] & PTE_P)
					visit(space, &table[index_at(a, 1)], false, argument);
		} else if (!entry) {
			/* No table at all: go on behind the gigabyte it would be for. */
			u64 *upper = entry_at(space, addr, 3, false);

			if (!upper || !(*upper & PTE_P))
				next = MIN(ALIGN_DOWN(addr, 1UL << 30) + (1UL << 30), end);
		}
		addr = next;
	}
}

static void visit_free(struct space *space, u64 *entry, bool large, u64 argument)
{
	u64 phys = *entry & PTE_ADDR;

	*entry = 0;
	if (large) {
		space->pages_2m--;
		user_large_free(phys);
	} else {
		space->pages_4k--;
		user_page_free(phys);
	}
}

static void visit_protect(struct space *space, u64 *entry, bool large, u64 prot)
{
	*entry = (*entry & PTE_ADDR) | (large ? PTE_PS : 0) | prot_bits(prot);
}

static void visit_seen(struct space *space, u64 *entry, bool large, u64 found)
{
	if (*entry & LWK_PTE_SEEN_BY_LINUX)
		*(bool *)found = true;
}

static void hide_from_proxy(struct space *space, u64 start, u64 end)
{
	bool seen = false;
	u64 args[6] = { start, end - start };

	visit_pages(space, start, end, visit_seen, (u64)&seen);
	if (!seen)
		return;
	channel_request(LWK_CALL_UNMAP, args);
	this_cpu()->status->delegated_calls[LWK_CALLS_MEMORY]++;
}

static int split_edges(struct space *space, u64 start, u64 end)
{
	if (area_split(space, start) || area_split(space, end))
		return -ENOMEM;
	if (start % LARGE_SIZE && large_split(space, start))
		return -ENOMEM;
	if (end % LARGE_SIZE && large_split(space, end))
		return -ENOMEM;
	return 0;
}

static void publish(struct space *space)
{
	struct lwk_cpu_memory *memory = &this_cpu()->status->memory;
	u64 bytes = space->pages_4k * PAGE_SIZE + space->pages_2m * LARGE_SIZE;

	space->peak_bytes = MAX(space->peak_bytes, bytes);
	group_begin(&memory->seq);
	memory->pages_4k = space->pages_4k;
	memory->pages_2m = space->pages_2m;
	memory->peak_bytes = space->peak_bytes;
	group_end(&memory->seq);
}

/* ---- the space as a whole ---- */

static u64 kernel_root;

void space_setup(void)
{
	kernel_root = read_cr3() & PTE_ADDR;
}

int space_init(struct space *space)
{
	u64 *root = kernel_page_alloc(), *kernel = phys_to_virt(kernel_root);

	memset(space, 0, sizeof(*space));
	if (!root)
		return -ENOMEM;
	/* The upper half is the kernel's, the same in every space. */
	memcpy(root + ENTRIES / 2, kernel + ENTRIES / 2, PAGE_SIZE / 2);
	space->root = virt_to_phys(root);
	return 0;
}

void space_activate(const struct space *space)
{
	write_cr3(space->root);
}

void space_leave(void)
{
	write_cr3(kernel_root);
}

static void tables_free(u64 *table, unsigned int level)
{
	unsigned int n = level == levels() ? ENTRIES / 2 : ENTRIES;

	for (unsigned int i = 0; level > 1 && i < n; i++)
		if (table[i] & PTE_P && !(table[i] & PTE_PS))
			tables_free(phys_to_virt(table[i] & PTE_ADDR), level - 1);
	kernel_page_free(table);
}

/* The space must not be active; the proxy must be gone. */
void space_destroy(struct space *space)
{
	for (struct area *area = space->areas; area; area = area->next)
		visit_pages(space, area->start, area->end, visit_free, 0);
	publish(space);
	tables_free(phys_to_virt(space->root), levels());
	for (void *page = space->area_pages, *next; page; page = next) {
		next = *(void **)page;
		kernel_page_free(page);
	}
	memset(space, 0, sizeof(*space));
}

s64 space_map(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement)
{
	size = ALIGN_UP(size, PAGE_SIZE);
	if (!size || size > LWK_USER_END || prot & ~PROT_ALL)
		return size > LWK_USER_END ? -ENOMEM : -EINVAL;
	/* As Linux's heuristic: what can never be had is refused at once. */
	if (prot && size > status->user_bytes)
		return -ENOMEM;

	if (placement == MAP_ANYWHERE) {
		/* An address without MAP_FIXED is a hint. */
		addr = ALIGN_DOWN(addr, PAGE_SIZE);
		if (!addr || !range_valid(addr, size) || !range_free(space, addr, addr + size))
			addr = find_room(space, size);
		if (!addr)
			return -ENOMEM;
	} else if (!range_valid(addr, size)) {
		return addr % PAGE_SIZE ? -EINVAL : -ENOMEM;
	} else if (placement == MAP_REPLACE) {
		s64 error = space_unmap(space, addr, size);

		if (error)
			return error;
	} else if (!range_free(space, addr, addr + size)) {
		return -EEXIST;
	}
	if (area_insert(space, addr, addr + size, prot))
		return -ENOMEM;
	return addr;
}

s64 space_unmap(struct space *space, u64 addr, u64 size)
{
	struct area **link;
	u64 end;

	size = ALIGN_UP(size, PAGE_SIZE);
	if (!size || !range_valid(addr, size))
		return -EINVAL;
	end = addr + size;
	if (range_free(space, addr, end))
		return 0;
	if (split_edges(space, addr, end))
		return -ENOMEM;
	hide_from_proxy(space, addr, end);

	link = area_link(space, addr);
	while (*link && (*link)->start < end) {
		struct area *area = *link;

		visit_pages(space, area->start, area->end, visit_free, 0);
		*link = area->next;
		area_free(space, area);
	}
	flush_tlb();
	publish(space);
	return 0;
}

/* True when every page of [start, end) is in some area. */
static bool range_mapped(struct space *space, u64 start, u64 end)
{
	for (struct area *area = *area_link(space, start); area && area->start <= start;
	     area = area->next) {
		if (area->end >= end)
			return true;
		start = area->end;
	}
	return false;
}

s64 space_protect(struct space *space, u64 addr, u64 size, u32 prot)
{
	u64 end;

	size = ALIGN_UP(size, PAGE_SIZE);
	if (addr % PAGE_SIZE || prot & ~PROT_ALL)
		return -EINVAL;
	if (!size)
		return 0;
	end = addr + size;
	if (!range_valid(addr, size) || !range_mapped(space, addr, end))
		return -ENOMEM;
	if (split_edges(space, addr, end))
		return -ENOMEM;
	hide_from_proxy(space, addr, end);
	for (struct area *area = *area_link(space, addr); area && area->start < end;
	     area = area->next)
		area->prot = prot;
	visit_pages(space, addr, end, visit_protect, prot);
	for (struct area *area = space->areas; area && area->start <= end; area = area->next)
		area_join(space, area);
	flush_tlb();
	publish(space);
	return 0;
}

s64 space_discard(struct space *space, u64 addr, u64 size)
{
	size = ALIGN_UP(size, PAGE_SIZE);
	if (addr % PAGE_SIZE)
		return -EINVAL;
	if (!size)
		return 0;
	if (!range_valid(addr, size) || !range_mapped(space, addr, addr + size))
		return -ENOMEM;
	/* Only pages go; areas need no split, large pages at the edges do. */
	if ((addr % LARGE_SIZE && large_split(space, addr)) ||
	    ((addr + size) % LARGE_SIZE && large_split(space, addr + size)))
		return -ENOMEM;
	hide_from_proxy(space, addr, addr + size);
	visit_pages(space, addr, addr + size, visit_free, 0);
	flush_tlb();
	publish(space);
	return 0;
}

/* Moves the pages of one mapping to another place of the same size. */
static int move_pages(struct space *space, u64 from, u64 to, u64 size)
{
	bool congruent = (from - to) % LARGE_SIZE == 0;

	for (u64 done = 0; done < size;) {
		u64 *source = entry_at(space, from + done, 2, false), *target;
		u64 step = PAGE_SIZE;
		bool large = source && *source & PTE_P && *source & PTE_PS;

		if (large && congruent && size - done >= LARGE_SIZE &&
		    (from + done) % LARGE_SIZE == 0) {
			step = LARGE_SIZE;
			target = entry_at(space, to + done, 2, true);
		} else {
			if (large_split(space, from + done))
				return -ENOMEM;
			source = entry_at(space, from + done, 1, false);
			target = source && *source & PTE_P ? entry_at(space, to + done, 1, true)
							   : NULL;
		}
		if (source && *source & PTE_P) {
			if (!target)
				return -ENOMEM;
			*target = *source;
			*source = 0;
		}
		done += step;
	}
	return 0;
}

s64 space_resize(struct space *space, u64 addr, u64 old_size, u64 new_size, bool may_move)
{
	struct area *area = area_at(space, addr);
	s64 to;

	old_size = ALIGN_UP(old_size, PAGE_SIZE);
	new_size = ALIGN_UP(new_size, PAGE_SIZE);
	if (addr % PAGE_SIZE || !old_size || !new_size)
		return -EINVAL;
	if (!range_valid(addr, old_size) || !area || area->end < addr + old_size)
		return -EFAULT;
	if (new_size <= old_size)
		return new_size == old_size ||
				       space_unmap(space, addr + new_size, old_size - new_size) == 0
			       ? (s64)addr
			       : -ENOMEM;
	if (range_valid(addr, new_size) && area->end == addr + old_size &&
	    range_free(space, addr + old_size, addr + new_size)) {
		to = space_map(space, addr + old_size, new_size - old_size, area->prot, MAP_EXACT);
		return to < 0 ? to : (s64)addr;
	}
	if (!may_move)
		return -ENOMEM;
	to = space_map(space, 0, new_size, area->prot, MAP_ANYWHERE);
	if (to < 0)
		return to;
	hide_from_proxy(space, addr, addr + old_size);
	if (move_pages(space, addr, to, old_size)) {
		/* Nothing is lost: what had moved goes back into tables that exist. */
		move_pages(space, to, addr, old_size);
		space_unmap(space, to, new_size);
		return -ENOMEM;
	}
	flush_tlb();
	space_unmap(space, addr, old_size);
	return to;
}

u64 space_set_brk(struct space *space, u64 brk)
{
	u64 old_end = ALIGN_UP(space->brk, PAGE_SIZE), new_end = ALIGN_UP(brk, PAGE_SIZE);

	if (brk < space->brk_start || brk > LWK_USER_END)
		return space->brk;
	if (new_end > old_end &&
	    space_map(space, old_end, new_end - old_end, PROT_READ | PROT_WRITE, MAP_EXACT) < 0)
		return space->brk;
	if (new_end < old_end && space_unmap(space, new_end, old_end - new_end))
		return space->brk;
	space->brk = brk;
	return brk;
}

/* ---- touching ---- */

int space_fault(struct space *space, u64 addr, bool write, bool exec)
{
	struct area *area = addr < LWK_USER_END ? area_at(space, addr) : NULL;
	u64 base = ALIGN_DOWN(addr, LARGE_SIZE), *entry, phys;
	u32 node = this_cpu()->node;

	if (!area || !area->prot || (write && !(area->prot & PROT_WRITE)) ||
	    (exec && !(area->prot & PROT_EXEC)))
		return -EFAULT;
	entry = entry_at(space, addr, 2, true);
	if (!entry)
		return -ENOMEM;
	if (*entry & PTE_P && *entry & PTE_PS)
		return 0;
	if (!(*entry & PTE_P) && area->start <= base && area->end >= base + LARGE_SIZE) {
		phys = user_large_alloc(node);
		if (phys) {
			*entry = phys | PTE_PS | prot_bits(area->prot);
			space->pages_2m++;
			publish(space);
			return 0;
		}
	}
	entry = entry_at(space, addr, 1, true);
	if (!entry)
		return -ENOMEM;
	if (*entry & PTE_P)
		return 0;
	phys = user_page_alloc(node);
	if (!phys)
		return -ENOMEM;
	*entry = phys | prot_bits(area->prot);
	space->pages_4k++;
	publish(space);
	return 0;
}

int space_populate(struct space *space, u64 addr, u64 size)
{
	for (u64 a = addr; a < addr + size; a += PAGE_SIZE) {
		int error = space_fault(space, a, false, false);

		if (error)
			return error;
	}
	return 0;
}

void *space_page(struct space *space, u64 addr, bool write)
{
	u64 *entry;

	if (space_fault(space, addr, write, false))
		return NULL;
	entry = entry_at(space, addr, 2, false);
	if (entry && *entry & PTE_PS)
		return phys_to_virt((*entry & PTE_ADDR) + addr % LARGE_SIZE);
	entry = entry_at(space, addr, 1, false);
	return phys_to_virt((*entry & PTE_ADDR) + addr % PAGE_SIZE);
}
