/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's address space: what is mapped (areas) and the page tables.
 *
 * Pages come at the first touch: 2 MB where an area holds the whole aligned 2 MB and
 * the partition has such a page, 4 KB otherwise. Before a page is used for anything
 * else, the proxy's view of it must go: pages that lwkpart.ko has shown to the proxy
 * carry LWK_PTE_SEEN_BY_LINUX, and hide_from_proxy() asks for them back.
 *
 * Several CPUs share a space. Its lock is held only while nobody need be waited for but
 * other CPUs' TLBs. Whoever changes mappings is 'changing' the space until all is done, the
 * proxy's part included, and keeps others from it who want the same; page faults go on
 * meanwhile. A page that is to go is first put in limbo: no longer present, and not yet free. A
 * fault that finds it there in an area where it may be brings it back.
 *
 * Pages of shared areas are Linux's, and come and go with what lwkpart.ko grants (share.c). Who
 * fetches some is 'changing' the space, too: none comes where others are being given back.
 */
#include "lwk/lwk.h"

/* Room between the mappings and the stack, and where a search for room starts. */
#define MAPPINGS_END (LWK_USER_END - (1UL << 40))
#define ENTRIES 512
/* In an entry that is not present: the page is still there. */
#define PTE_LIMBO (1UL << 10)
/* The page is none of the partition's: the direct map does not have it. */
#define PTE_GRANTED (1UL << 11)
/* One page of addresses for each CPU, to look at such a page through. */
#define PEEPHOLES (LWK_LAPIC_VADDR + LARGE_SIZE)

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

/* ---- several CPUs ---- */

/* With the space changed by nobody else from here to change_end(). */
static void change_begin(struct space *space)
{
	while (__atomic_exchange_n(&space->changing, 1, __ATOMIC_ACQUIRE)) {
		while (READ_ONCE(space->changing)) {
			if (!channel_ordered(this_slot()) || READ_ONCE(this_process()->ending))
				process_abandon();
			channel_serve_fault();
			slot_freeze();
			still_alive();
			cpu_relax();
			slot_yield();
		}
	}
	spin_lock(&space->lock);
}

static void change_end(struct space *space)
{
	spin_unlock(&space->lock);
	STORE_RELEASE(space->changing, 0);
}

void space_follow(struct space *space)
{
	struct cpu *cpu = this_slot()->cpu;
	u64 generation = LOAD_ACQUIRE(space->tlb_generation);

	if (cpu->tlb_seen == generation)
		return;
	flush_tlb();
	STORE_RELEASE(cpu->tlb_seen, generation);
}

/*
 * Has it followed, or is it in the kernel and will do so in leave_kernel()? Or when it goes on with
 * another process's thread, and with this one's again.
 */
static bool has_followed(const struct cpu *cpu, const struct process *process, u64 generation)
{
	const struct slot *current = LOAD_ACQUIRE(cpu->current);

	return LOAD_ACQUIRE(current->process) != process ||
	       LOAD_ACQUIRE(cpu->tlb_seen) == generation ||
	       READ_ONCE(current->status->heartbeat) & 1;
}

/*
 * No CPU's user mode uses what the tables said before. With the lock held: the others answer
 * without it. The kernel itself uses no user address.
 */
static void flush_everywhere(struct space *space)
{
	struct process *process = this_process();
	u64 generation = __atomic_add_fetch(&space->tlb_generation, 1, __ATOMIC_SEQ_CST);

	flush_tlb();
	this_slot()->cpu->tlb_seen = generation;
	if (READ_ONCE(process->n_slots) == 1)
		return;
	for (u32 i = 0; i < boot->n_cpus; i++)
		if (!has_followed(cpu_at(i), process, generation))
			apic_send(boot->cpus[i].apicid, LWK_DOORBELL_VECTOR);
	for (u32 i = 0; i < boot->n_cpus; i++)
		while (!has_followed(cpu_at(i), process, generation))
			cpu_relax();
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
	*rest = *area;
	rest->start = addr;
	rest->offset += addr - area->start;
	area->end = addr;
	area->next = rest;
	return 0;
}

static bool continues_file(const struct area *area, const struct area *next)
{
	return area->file == next->file &&
	       (!area->file || next->offset - area->offset == next->start - area->start);
}

/* Joins an area with its successor while they are alike. */
static void area_join(struct space *space, struct area *area)
{
	struct area *next;

	while ((next = area->next) && next->start == area->end && next->prot == area->prot &&
	       next->shared == area->shared && next->policy.mode == area->policy.mode &&
	       next->policy.nodes == area->policy.nodes && continues_file(area, next)) {
		area->end = next->end;
		area->next = next->next;
		area_free(space, next);
	}
}

/* Adds what 'like' says, but for its link. */
static int area_insert(struct space *space, const struct area *like)
{
	struct area **link = area_link(space, like->start), *area = area_alloc(space);

	if (!area)
		return -ENOMEM;
	*area = *like;
	area->next = *link;
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
	u64 *entry = entry_at(space, addr, 2, false), *table, old;

	if (!entry || !(*entry & PTE_P) || !(*entry & PTE_PS))
		return 0;
	table = kernel_page_alloc();
	if (!table)
		return -ENOMEM;
	/* lwkpart.ko may set LWK_PTE_SEEN_BY_LINUX just now. */
	old = READ_ONCE(*entry);
	do
		for (u64 i = 0; i < ENTRIES; i++)
			table[i] = (old & ~PTE_PS) + i * PAGE_SIZE;
	while (!__atomic_compare_exchange_n(entry, &old,
					    virt_to_phys(table) | PTE_P | PTE_W | PTE_U, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	user_large_split(old & PTE_ADDR);
	space->pages_2m--;
	space->pages_4k += ENTRIES;
	return 0;
}

/* Is there a page, in limbo perhaps? */
static bool is_page(u64 entry)
{
	return entry & (PTE_P | PTE_LIMBO);
}

/*
 * Calls visit for each page of [start, end), those in limbo too. A large page at the edge that is
 * only partly inside must have been split before.
 */
typedef void (*page_visit)(struct space *space, u64 *entry, bool large, u64 argument);

static void visit_pages(struct space *space, u64 start, u64 end, page_visit visit, u64 argument)
{
	for (u64 addr = start; addr < end;) {
		u64 *entry = entry_at(space, addr, 2, false);
		u64 next = MIN(ALIGN_DOWN(addr, LARGE_SIZE) + LARGE_SIZE, end);

		if (entry && is_page(*entry) && *entry & PTE_PS) {
			visit(space, entry, true, argument);
		} else if (entry && *entry & PTE_P) {
			u64 *table = phys_to_virt(*entry & PTE_ADDR);

			for (u64 a = addr; a < next; a += PAGE_SIZE)
				if (is_page(table[index_at(a, 1)]))
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

static void page_free(struct space *space, u64 *entry, bool large)
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

static void visit_free_limbo(struct space *space, u64 *entry, bool large, u64 argument)
{
	if (!(*entry & PTE_P))
		page_free(space, entry, large);
}

/* Changes an entry that lwkpart.ko may mark just now. *seen becomes true if it has. */
static void change_entry(u64 *entry, u64 new, bool *seen)
{
	if (__atomic_exchange_n(entry, new, __ATOMIC_ACQ_REL) & LWK_PTE_SEEN_BY_LINUX)
		*seen = true;
}

static void visit_limbo(struct space *space, u64 *entry, bool large, u64 seen)
{
	change_entry(entry, (*entry & ~PTE_P & ~LWK_PTE_SEEN_BY_LINUX) | PTE_LIMBO, (bool *)seen);
}

struct protection {
	u32 prot;
	bool seen;
};

static void visit_protect(struct space *space, u64 *entry, bool large, u64 argument)
{
	struct protection *protection = (struct protection *)argument;

	change_entry(entry,
		     (*entry & PTE_ADDR) | (large ? PTE_PS : 0) | prot_bits(protection->prot),
		     &protection->seen);
}

/* Asks the proxy to forget its view of pages; gives the lock back meanwhile. */
static void hide_from_proxy(struct space *space, u64 start, u64 end)
{
	u64 args[6] = { start, end - start };

	spin_unlock(&space->lock);
	channel_request(LWK_CALL_UNMAP, args);
	this_slot()->status->delegated_calls[LWK_CALLS_MEMORY]++;
	spin_lock(&space->lock);
}

/* Puts the pages of [start, end) in limbo, where nobody sees them any more. */
static void to_limbo(struct space *space, u64 start, u64 end)
{
	bool seen = false;

	visit_pages(space, start, end, visit_limbo, (u64)&seen);
	flush_everywhere(space);
	if (seen)
		hide_from_proxy(space, start, end);
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
	u64 bytes = space->pages_4k * PAGE_SIZE + space->pages_2m * LARGE_SIZE;

	space->peak_bytes = MAX(space->peak_bytes, bytes);
	user_pages_publish(space);
}

/* ---- the space as a whole ---- */

static u64 kernel_root;
/* The table of the peepholes. */
static u64 *peepholes;

/* The level-4 entry for what is behind LWK_USER_END: the clock, and the vDSO. */
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

	/* All spaces have the table above it in common, if it is there before them. */
	peepholes = entry_at(&kernel, PEEPHOLES, 1, true);
	if (!peepholes)
		panic("no room for a page table");
	common_setup(&kernel);
}

static void *peephole_open(u64 phys, bool write)
{
	u32 index = this_slot()->cpu->index;

	peepholes[index] = phys | PTE_P | PTE_NX | (write ? PTE_W : 0);
	invalidate_page(PEEPHOLES + index * PAGE_SIZE);
	return (void *)(PEEPHOLES + index * PAGE_SIZE);
}

static void peephole_close(void)
{
	u32 index = this_slot()->cpu->index;

	if (!peepholes[index])
		return;
	peepholes[index] = 0;
	invalidate_page(PEEPHOLES + index * PAGE_SIZE);
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
		return -ENOMEM;
	}
	*common = common_entry;
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

static void tables_free(struct space *space, u64 *table, unsigned int level)
{
	unsigned int n = level == levels() ? ENTRIES / 2 : ENTRIES;

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
}

/* No CPU may have it active any more; the proxy must be gone. */
void space_destroy(struct space *space)
{
	tables_free(space, phys_to_virt(space->root), levels());
	publish(space);
	for (void *page = space->area_pages, *next; page; page = next) {
		next = *(void **)page;
		kernel_page_free(page);
	}
	memset(space, 0, sizeof(*space));
}

/* ---- mappings; all with the space 'changing' and its lock held ---- */

static s64 unmap(struct space *space, u64 addr, u64 size)
{
	struct area **link;
	bool shared = false;
	u64 end;

	size = ALIGN_UP(size, PAGE_SIZE);
	if (!size || !range_valid(addr, size))
		return -EINVAL;
	end = addr + size;
	if (range_free(space, addr, end))
		return 0;
	if (split_edges(space, addr, end))
		return -ENOMEM;
	link = area_link(space, addr);
	while (*link && (*link)->start < end) {
		struct area *area = *link;

		*link = area->next;
		shared |= area->shared;
		area_free(space, area);
	}
	to_limbo(space, addr, end);
	visit_pages(space, addr, end, visit_free_limbo, 0);
	if (shared) {
		spin_unlock(&space->lock);
		share_end(addr, size);
		spin_lock(&space->lock);
	}
	publish(space);
	return 0;
}

static s64 map(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
	       bool shared)
{
	struct area area;

	size = ALIGN_UP(size, PAGE_SIZE);
	if (!size || size > LWK_USER_END || prot & ~PROT_ALL)
		return size > LWK_USER_END ? -ENOMEM : -EINVAL;
	/* As Linux's heuristic: what can never be had is refused at once. */
	if (prot && !shared && size > status->user_bytes)
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
		s64 error = unmap(space, addr, size);

		if (error)
			return error;
	} else if (!range_free(space, addr, addr + size)) {
		return -EEXIST;
	}
	area = (struct area){ .start = addr, .end = addr + size, .prot = prot, .shared = shared };
	if (area_insert(space, &area))
		return -ENOMEM;
	return addr;
}

static s64 map_shared(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
		      u64 flags, u64 fd, u64 offset)
{
	s64 at, result;

	/* The pages would be granted to this process, and stay with another. */
	if (this_process()->first->borrowed)
		return -ENOMEM;
	at = map(space, addr, size, prot, placement, true);
	if (at < 0)
		return at;
	spin_unlock(&space->lock);
	result = share_begin(at, ALIGN_UP(size, PAGE_SIZE), prot, flags, fd, offset);
	spin_lock(&space->lock);
	if (!result)
		return at;
	unmap(space, at, size);
	return result < 0 ? result : 0;
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

/* Pages that are granted for reading come anew for writing, and then Linux is asked for both. */
static s64 protect_shared(struct space *space, u64 start, u64 end, u32 prot)
{
	s64 result;

	to_limbo(space, start, end);
	visit_pages(space, start, end, visit_free_limbo, 0);
	spin_unlock(&space->lock);
	result = share_protect(start, end - start, prot);
	spin_lock(&space->lock);
	return result;
}

static s64 protect(struct space *space, u64 addr, u64 size, u32 prot)
{
	struct protection protection = { .prot = prot };
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
	for (struct area *area = *area_link(space, addr); area && area->start < end;
	     area = area->next) {
		s64 error = area->shared ? protect_shared(space, area->start, area->end, prot) : 0;

		if (error)
			return error;
		area->prot = prot;
	}
	visit_pages(space, addr, end, visit_protect, (u64)&protection);
	for (struct area *area = space->areas; area && area->start <= end; area = area->next)
		area_join(space, area);
	flush_everywhere(space);
	if (protection.seen)
		hide_from_proxy(space, addr, end);
	publish(space);
	return 0;
}

static s64 discard(struct space *space, u64 addr, u64 size)
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
	for (struct area *area = *area_link(space, addr); area && area->start < addr + size;
	     area = area->next) {
		u64 start = MAX(area->start, addr), end = MIN(area->end, addr + size);

		/* What is shared stays as it is. */
		if (area->shared)
			continue;
		to_limbo(space, start, end);
		visit_pages(space, start, end, visit_free_limbo, 0);
	}
	publish(space);
	return 0;
}

/* Is the 2 MB at base moved as a whole, if it is a large page? Not to where a table is. */
static bool moves_whole(struct space *space, u64 base, u64 from, u64 to, u64 size)
{
	const u64 *target;

	if ((from - to) % LARGE_SIZE || base < from || base + LARGE_SIZE > from + size)
		return false;
	target = entry_at(space, to + (base - from), 2, false);
	return !target || !*target;
}

static int split_for_move(struct space *space, u64 from, u64 to, u64 size)
{
	for (u64 base = ALIGN_DOWN(from, LARGE_SIZE); base < from + size; base += LARGE_SIZE)
		if (!moves_whole(space, base, from, to, size) && large_split(space, base))
			return -ENOMEM;
	return split_edges(space, from, from + size);
}

/* Moves pages, all in limbo, to where nothing is. */
static int move_pages(struct space *space, u64 from, u64 to, u64 size)
{
	for (u64 done = 0; done < size;) {
		u64 *source = entry_at(space, from + done, 2, false), *target;
		bool large = source && is_page(*source) && *source & PTE_PS;
		unsigned int level = large ? 2 : 1;

		if (!large)
			source = entry_at(space, from + done, 1, false);
		if (source && is_page(*source)) {
			target = entry_at(space, to + done, level, true);
			if (!target)
				return -ENOMEM;
			*target = *source;
			*source = 0;
		}
		done += large ? LARGE_SIZE : PAGE_SIZE;
	}
	return 0;
}

static void visit_revive(struct space *space, u64 *entry, bool large, u64 argument)
{
	*entry = (*entry & ~PTE_LIMBO) | PTE_P;
}

/* To wherever there is room. */
static s64 move(struct space *space, u64 addr, u64 old_size, u64 new_size)
{
	struct area *area;
	u32 prot = area_at(space, addr)->prot;
	s64 to = map(space, 0, new_size, prot, MAP_ANYWHERE, false);
	int error;

	if (to < 0)
		return to;
	error = split_for_move(space, addr, to, old_size);
	if (!error) {
		/* No page comes back, and none is made, where they are taken away. */
		area = area_at(space, addr);
		area->prot = 0;
		to_limbo(space, addr, addr + old_size);
		error = move_pages(space, addr, to, old_size);
		if (error)
			/* Nothing is lost: what has moved goes back into tables that exist. */
			move_pages(space, to, addr, old_size);
		area->prot = prot;
		visit_pages(space, error ? addr : (u64)to, (error ? addr : (u64)to) + old_size,
			    visit_revive, 0);
	}
	if (error) {
		unmap(space, to, new_size);
		return -ENOMEM;
	}
	unmap(space, addr, old_size);
	return to;
}

static s64 resize(struct space *space, u64 addr, u64 old_size, u64 new_size, bool may_move)
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
				       unmap(space, addr + new_size, old_size - new_size) == 0
			       ? (s64)addr
			       : -ENOMEM;
	if (area->shared)
		return -ENOMEM;
	if (range_valid(addr, new_size) && area->end == addr + old_size &&
	    range_free(space, addr + old_size, addr + new_size)) {
		to = map(space, addr + old_size, new_size - old_size, area->prot, MAP_EXACT, false);
		return to < 0 ? to : (s64)addr;
	}
	return may_move ? move(space, addr, old_size, new_size) : -ENOMEM;
}

static u64 set_brk(struct space *space, u64 brk)
{
	u64 old_end = ALIGN_UP(space->brk, PAGE_SIZE), new_end = ALIGN_UP(brk, PAGE_SIZE);

	if (brk < space->brk_start || brk > LWK_USER_END)
		return space->brk;
	if (new_end > old_end &&
	    map(space, old_end, new_end - old_end, PROT_READ | PROT_WRITE, MAP_EXACT, false) < 0)
		return space->brk;
	if (new_end < old_end && unmap(space, new_end, old_end - new_end))
		return space->brk;
	space->brk = brk;
	return brk;
}

s64 space_map(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement)
{
	s64 result;

	change_begin(space);
	result = map(space, addr, size, prot, placement, false);
	change_end(space);
	return result;
}

s64 space_map_shared(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
		     u64 flags, u64 fd, u64 offset)
{
	s64 result;

	change_begin(space);
	result = map_shared(space, addr, size, prot, placement, flags, fd, offset);
	change_end(space);
	return result;
}

s64 space_unmap(struct space *space, u64 addr, u64 size)
{
	s64 result;

	change_begin(space);
	result = unmap(space, addr, size);
	change_end(space);
	return result;
}

s64 space_protect(struct space *space, u64 addr, u64 size, u32 prot)
{
	s64 result;

	change_begin(space);
	result = protect(space, addr, size, prot);
	change_end(space);
	return result;
}

s64 space_discard(struct space *space, u64 addr, u64 size)
{
	s64 result;

	change_begin(space);
	result = discard(space, addr, size);
	change_end(space);
	return result;
}

s64 space_resize(struct space *space, u64 addr, u64 old_size, u64 new_size, bool may_move)
{
	s64 result;

	change_begin(space);
	result = resize(space, addr, old_size, new_size, may_move);
	change_end(space);
	return result;
}

u64 space_set_brk(struct space *space, u64 brk)
{
	u64 result;

	change_begin(space);
	result = set_brk(space, brk);
	change_end(space);
	return result;
}

/* ---- touching ---- */

/* A page for a fault, taken before it is certain that it is needed; phys 0: none. */
struct spare {
	u64 phys;
	bool large;
	bool no_large; /* none is left */
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

static void revive(u64 *entry)
{
	if (!(*entry & PTE_P))
		visit_revive(NULL, entry, false, 0);
}

static struct choice choose(const struct area *area, u64 addr)
{
	return policy_choice(area->policy.mode ? &area->policy : &this_thread()->policy, addr);
}

enum { NEEDS_SPARE = 1, NEEDS_GRANT };

/*
 * Makes the page at addr present, with a spare one if one is needed. 0, -EFAULT, -ENOMEM;
 * NEEDS_SPARE, a large one if *large; NEEDS_GRANT: it is Linux's.
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
		revive(entry);
		return 0;
	}
	*large = !(*entry & PTE_P) && !area->shared && area->start <= base &&
		 area->end >= base + LARGE_SIZE && !spare->no_large;
	if (!*large) {
		entry = entry_at(space, addr, 1, true);
		if (!entry)
			return -ENOMEM;
		if (is_page(*entry)) {
			revive(entry);
			return 0;
		}
	}
	if (area->shared)
		return NEEDS_GRANT;
	if (!spare->phys || spare->large != *large) {
		spare->choice = choose(area, addr);
		return NEEDS_SPARE;
	}
	*entry = spare->phys | (*large ? PTE_PS : 0) | prot_bits(area->prot);
	spare->phys = 0;
	space->pages_2m += *large;
	space->pages_4k += !*large;
	publish(space);
	return 0;
}

/* Maps what Linux grants from addr on, where it is not mapped yet. 0, -EIO, -ENOMEM */
static int fetch(struct space *space, const struct area *area, u64 addr)
{
	const __u64 *pages;
	s64 n;

	spin_unlock(&space->lock);
	n = share_pin(addr, (area->end - addr) / PAGE_SIZE, area->prot & PROT_WRITE, &pages);
	spin_lock(&space->lock);
	for (s64 i = 0; i < n; i++) {
		u64 *entry = entry_at(space, addr + i * PAGE_SIZE, 1, true);

		if (!entry)
			return -ENOMEM;
		if (!is_page(*entry))
			*entry = (pages[i] & PTE_ADDR) | PTE_GRANTED | prot_bits(area->prot);
	}
	return n > 0 ? 0 : -EIO;
}

/* Who was faster may have changed everything: 0 says to look again. */
static int fetch_page(struct space *space, u64 addr)
{
	struct area *area;
	u64 *entry;
	int error = 0;

	addr = ALIGN_DOWN(addr, PAGE_SIZE);
	change_begin(space);
	area = area_at(space, addr);
	entry = entry_at(space, addr, 1, false);
	if (area && area->shared && area->prot && !(entry && is_page(*entry)))
		error = fetch(space, area, addr);
	change_end(space);
	return error;
}

/* As space_fault(), if 'fetches'; with 0 the lock is still held. */
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
			result = fetches ? fetch_page(space, addr) : -EFAULT;
		if (result)
			break;
	}
	/* Another CPU was faster. */
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

bool space_is_shared(struct space *space, u64 addr)
{
	const struct area *area;
	bool shared;

	spin_lock(&space->lock);
	area = area_at(space, addr);
	shared = area && area->shared;
	spin_unlock(&space->lock);
	return shared;
}

bool space_is_mapped(struct space *space, u64 addr, u64 size)
{
	bool mapped = false;

	spin_lock(&space->lock);
	if (range_valid(addr, size))
		mapped = range_mapped(space, addr, addr + size);
	spin_unlock(&space->lock);
	return mapped;
}

s64 space_policy(struct space *space, u64 addr, struct policy *policy)
{
	const struct area *area;

	spin_lock(&space->lock);
	area = addr < LWK_USER_END ? area_at(space, addr) : NULL;
	if (area && area->policy.mode)
		*policy = area->policy;
	spin_unlock(&space->lock);
	return area ? 0 : -EFAULT;
}

/* The first area that ends behind addr: false, if there is none. */
static bool find_area(struct space *space, u64 addr, struct area *found, bool *heap)
{
	const struct area *area;

	spin_lock(&space->lock);
	area = *area_link(space, addr);
	if (area)
		*found = *area;
	*heap = area && !area->file && !area->shared && area->start < space->brk &&
		area->end > space->brk_start;
	spin_unlock(&space->lock);
	return area;
}

s64 space_tell(struct space *space)
{
	struct area area = { 0 };
	bool heap;
	s64 error = 0;

	/* Others may change what has not been told yet, as with Linux's /proc. */
	while (!error && find_area(space, area.end, &area, &heap)) {
		u64 args[6] = { area.start,
				area.end,
				area.prot,
				(area.shared ? LWK_AREA_SHARED : 0) | (heap ? LWK_AREA_HEAP : 0),
				area.file,
				area.offset };

		error = channel_request(LWK_CALL_AREA, args);
	}
	return error;
}

void space_set_file(struct space *space, u64 addr, u64 size, u32 file, u64 offset)
{
	u64 end = addr + ALIGN_UP(size, PAGE_SIZE);

	change_begin(space);
	/* Without memory for it there is no name. */
	if (range_valid(addr, end - addr) && !split_edges(space, addr, end))
		for (struct area *area = *area_link(space, addr); area && area->start < end;
		     area = area->next) {
			area->file = file;
			area->offset = offset + (area->start - addr);
		}
	change_end(space);
}

struct nodes {
	u64 wanted;
	bool others;
};

static void visit_nodes(struct space *space, u64 *entry, bool large, u64 argument)
{
	struct nodes *nodes = (struct nodes *)argument;

	if (!(*entry & PTE_GRANTED) && !(nodes->wanted & 1UL << user_page_node(*entry & PTE_ADDR)))
		nodes->others = true;
}

static s64 set_policy(struct space *space, u64 start, u64 end, const struct policy *policy)
{
	if (!range_mapped(space, start, end))
		return -EFAULT;
	/* No large page may be in two areas: who copies them would copy it twice. */
	if (split_edges(space, start, end))
		return -ENOMEM;
	for (struct area *area = area_at(space, start); area && area->start < end;
	     area = area->next)
		area->policy = *policy;
	return 0;
}

s64 space_set_policy(struct space *space, u64 addr, u64 size, const struct policy *policy,
		     bool strict)
{
	struct nodes nodes = { policy->nodes, false };
	s64 error;

	if (!range_valid(addr, size))
		return -EFAULT;
	change_begin(space);
	error = set_policy(space, addr, addr + size, policy);
	if (!error && strict && policy->nodes)
		visit_pages(space, addr, addr + size, visit_nodes, (u64)&nodes);
	change_end(space);
	return error ? error : nodes.others ? -EIO : 0;
}

s64 space_node_held(struct space *space, u64 addr)
{
	u64 *entry = entry_at(space, addr, 2, false);

	if (!(*entry & PTE_PS))
		entry = entry_at(space, addr, 1, false);
	return *entry & PTE_GRANTED ? -EFAULT : (s64)user_page_node(*entry & PTE_ADDR);
}

int space_populate(struct space *space, u64 addr, u64 size)
{
	for (u64 a = addr; a < addr + size; a += PAGE_SIZE) {
		int error = space_fault(space, a, false, false);

		if (error)
			return error;
		/* All of the memory may take longer than Linux waits for an order to be obeyed. */
		if (a % LARGE_SIZE == 0)
			slot_see_to_others();
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

/* ---- a copy, for another process ---- */

void space_keep(struct space *space)
{
	change_begin(space);
	spin_unlock(&space->lock);
}

void space_let_change(struct space *space)
{
	STORE_RELEASE(space->changing, 0);
}

bool space_has_shared(const struct space *space)
{
	const struct area *area = space->areas;

	while (area && !area->shared)
		area = area->next;
	return area;
}

void space_move(struct space *to, struct space *from)
{
	*to = *from;
	memset(from, 0, sizeof(*from));
}

void space_resume(struct space *space)
{
	struct slot *slot = this_slot();

	slot->cpu->tlb_seen = space->tlb_generation;
	space_activate(space);
	WRITE_ONCE(slot->status->page_root, space->root);
	publish(space);
}

static int copy_small(struct space *to, u64 addr, const void *from, const struct area *area)
{
	u64 *entry = entry_at(to, addr, 1, true);
	u64 phys = entry ? user_page_take(choose(area, addr)) : 0;

	if (!phys)
		return -ENOMEM;
	memcpy(phys_to_virt(phys), from, PAGE_SIZE);
	*entry = phys | prot_bits(area->prot);
	to->pages_4k++;
	return 0;
}

static int copy_large(struct space *to, u64 addr, const u8 *from, const struct area *area)
{
	u64 *entry = entry_at(to, addr, 2, true);
	u64 phys = entry ? user_large_take(choose(area, addr)) : 0;
	int error = 0;

	if (phys) {
		memcpy(phys_to_virt(phys), from, LARGE_SIZE);
		*entry = phys | PTE_PS | prot_bits(area->prot);
		to->pages_2m++;
		return 0;
	}
	for (u64 at = 0; at < LARGE_SIZE && !error; at += PAGE_SIZE)
		error = copy_small(to, addr + at, from + at, area);
	return error;
}

/* What is in [addr, end), within one 2 MB. With the lock of 'from' held. */
static int copy_part(struct space *to, struct space *from, u64 addr, u64 end,
		     const struct area *area)
{
	const u64 *entry = entry_at(from, addr, 2, false), *table;
	int error = 0;

	if (!entry || !is_page(*entry))
		return 0;
	if (*entry & PTE_PS)
		return copy_large(to, addr, phys_to_virt(*entry & PTE_ADDR), area);
	table = phys_to_virt(*entry & PTE_ADDR);
	for (; addr < end && !error; addr += PAGE_SIZE) {
		u64 page = table[index_at(addr, 1)];

		if (is_page(page))
			error = copy_small(to, addr, phys_to_virt(page & PTE_ADDR), area);
	}
	return error;
}

/* The next address behind addr where there may be pages: the next 2 MB, or far behind. */
static u64 next_part(struct space *space, u64 addr)
{
	const u64 *upper = entry_at(space, addr, 3, false);
	u64 step = upper && *upper & PTE_P ? LARGE_SIZE : LARGE_SIZE * ENTRIES;

	return ALIGN_DOWN(addr, step) + step;
}

static int copy_area(struct space *to, struct space *from, const struct area *area,
		     bool (*stop)(void))
{
	u64 addr = area->start, next;
	int error = area_insert(to, area);

	/* The child's proxy has mapped the same there, and grants it. */
	if (area->shared)
		return error;
	for (; addr < area->end && !error; addr = next) {
		/* Faults of other threads need the lock between. */
		spin_lock(&from->lock);
		next = MIN(next_part(from, addr), area->end);
		error = copy_part(to, from, addr, next, area);
		spin_unlock(&from->lock);
		still_alive();
		if (!error && stop())
			error = -EINTR;
	}
	return error;
}

int space_copy(struct space *to, struct space *from, bool (*stop)(void))
{
	u64 bytes = from->pages_4k * PAGE_SIZE + from->pages_2m * LARGE_SIZE;
	int error = 0;

	/* Others should not run out of memory for what cannot succeed. */
	if (bytes > user_free_bytes())
		return -ENOMEM;
	to->brk_start = from->brk_start;
	to->brk = from->brk;
	for (const struct area *area = from->areas; area && !error; area = area->next)
		error = copy_area(to, from, area, stop);
	publish(to);
	return error;
}
