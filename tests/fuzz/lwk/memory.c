// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The LWK's memory: mmap, munmap, mprotect, mremap, fork and more in any order, of two processes,
 * until memory runs out. One may borrow the other's memory, and end in the midst of a call. While a
 * thread has given the lock back, another thread's page faults happen, and the proxy looks through
 * its window. After each call all page tables must be what the processes' mappings say, and no page
 * may be in two places.
 */
#include <linux/errno.h>
#include <linux/mempolicy.h>
#include <setjmp.h>

#include "abi/shared/calls.h"
#include "abi/shared/grant.h"
#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/change.h"
#include "lwk/memory/copy.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/mapping.h"
#include "lwk/memory/user.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/paging/tables.h"
#include "lwk/partition.h"
#include "lwk/process/affinity.h"
#include "lwk/process/process.h"
#include "lwk/process/schedule.h"

static struct input input;

/* The window of a slot's proxy shows each page at this address; 0: it does not. */
static struct view {
	u64 addr;
	bool writable;
} views[SLOTS][USER_PAGES];
/* A window has shown a page since the start. */
static bool views_used;

/*
 * A mark in a page tells when and in which slot it was written; what a borrower writes is its
 * parent's, whose memory it is. A process may find its own from 'from' on, and those of the other
 * slot, its parent, before 'until', the time of its fork.
 */
static u64 next_mark, from[SLOTS], until[SLOTS];
static bool lent;
/* Where a process that ends in the midst of a call goes on. */
static jmp_buf end_of_turn;
/* A compiler for a freestanding program does not know it by its name. */
int _setjmp(jmp_buf) __attribute__((returns_twice));
/* The kernel takes these pages for ever during boot. */
static u64 boot_pages;
static unsigned int depth;

static struct space *space_of(u32 slot)
{
	return &slot_at(slot)->own.space;
}

static u32 here(void)
{
	return this_slot()->index;
}

/* Returns the slot that a process in this slot writes its marks for. */
static u32 owner(u32 slot)
{
	return slot_at(slot)->borrowed ? slot_at(slot)->parent : slot;
}

/* ---- what only the hardware, Linux or other files of the LWK do ---- */

void apic_send(u32 apicid, u32 vector)
{
}

void print(const char *format, ...)
{
}

bool boot_option(const char *option)
{
	return false;
}

void slot_yield(void)
{
	/* No other thread can end the wait. */
	must(!"a wait that ends");
}

void process_looks(void)
{
	slot_yield();
}

void signal_collect(void)
{
}

void slot_sleep(bool (*wakes)(const struct slot *slot))
{
	slot_yield();
}

void slot_wake(const struct slot *slot)
{
}

void visit_allow(bool yes)
{
}

static u8 no_registers[1];

size_t fpu_size(void)
{
	return 0;
}

struct cpu_set affinity_of(const struct slot *slot)
{
	return (struct cpu_set){ 0 };
}

void affinity_set(struct slot *slot, const struct cpu_set *set)
{
}

/* The calls of fork.c that make processes in other ways than here. */

struct cpu_time cpu_time_cycles(void)
{
	return (struct cpu_time){ 0 };
}

void signal_hand_down(u64 set)
{
}

void thread_start_store(struct slot *slot, struct thread_start *start, const struct frame *frame,
			u64 flags, u64 stack)
{
}

void thread_run(void)
{
	must(!"a thread that runs");
}

static u64 linux_page[PAGE_SIZE / sizeof(u64)];

void *peephole_open(u64 phys, bool write)
{
	must(phys >= LINUX_PAGES);
	return linux_page;
}

void peephole_close(void)
{
}

void peephole_setup(struct space *kernel)
{
}

/* ---- the proxy ---- */

/* Fails when the process of the slot may not see what the page has. */
static void check_contents(u32 slot, const u64 *page)
{
	u64 mark = *page / SLOTS;

	slot = owner(slot);
	must(!*page || (mark >= from[slot] && (*page % SLOTS == slot || mark < until[slot])));
}

/* As kmod/lwkpart/process/memory/window.c does it. */
static void look_through_window(u64 addr, bool write)
{
	struct space *space = space_of(here());
	u64 *entry, phys;
	int page;

	if (!space->root || addr < LWK_USER_START || addr >= LWK_USER_END)
		return;
	entry = entry_at(space, addr, 2, false);
	if (!entry || !(*entry & PTE_PS))
		entry = entry_at(space, addr, 1, false);
	if (!entry || !(*entry & PTE_P) || !(*entry & PTE_U) || (write && !(*entry & PTE_W)))
		return;
	phys = *entry & PTE_ADDR;
	if (*entry & PTE_PS)
		phys += ALIGN_DOWN(addr % LARGE_SIZE, PAGE_SIZE);
	page = partition_user_page(phys);
	if (page < 0)
		return;
	*entry |= LWK_PTE_SEEN_BY_LINUX;
	check_contents(here(), phys_to_virt(phys));
	views_used = true;
	views[here()][page] = (struct view){ ALIGN_DOWN(addr, PAGE_SIZE), *entry & PTE_W };
}

static void forget_views(u32 slot, u64 start, u64 end)
{
	for (u32 i = 0; views_used && i < USER_PAGES; i++)
		if (views[slot][i].addr >= start && views[slot][i].addr < end)
			views[slot][i].addr = 0;
}

static u64 take_address(void)
{
	/* The third is where find_room() looks first. */
	static const u64 bases[] = { LWK_USER_START, 16 * LARGE_SIZE, MAPPINGS_END - 8 * LARGE_SIZE,
				     LWK_USER_END - 4 * LARGE_SIZE };
	u32 number = take_number(&input, 2);
	u64 base = bases[number >> 14];

	/* Most are near each other, and on the edges of large pages. */
	switch (number >> 12 & 3) {
	case 0:
		return base + (number & 7) * LARGE_SIZE;
	case 3:
		return number & 0x800 ? take_number(&input, 8) : base + (number & 0x7ff) * 8;
	default:
		return base + (number & 0xfff) * PAGE_SIZE;
	}
}

static u64 take_size(void)
{
	u32 number = take_byte(&input);

	switch (number >> 6) {
	case 0:
		return (number & 63) * PAGE_SIZE;
	case 1:
		return (number & 7) * LARGE_SIZE;
	case 2:
		return (number & 63) * 64 * PAGE_SIZE;
	default:
		return number & 32 ? take_number(&input, 8) : take_number(&input, 3);
	}
}

/* Asks for a page in the way that kmod/lwkpart/process/memory/window.c does. */
static void ask_for_page(u64 addr, bool write)
{
	struct space *space = space_of(here());

	if (space_fault(space, addr, write, false, false) != -EAGAIN)
		return;
	forget_views(here(), ALIGN_DOWN(addr, LARGE_SIZE),
		     ALIGN_DOWN(addr, LARGE_SIZE) + LARGE_SIZE);
	for (u64 at = ALIGN_DOWN(addr, LARGE_SIZE), i = 0; i < ENTRIES; i++, at += PAGE_SIZE) {
		u64 *entry = entry_at(space, at, 2, false);

		if (entry && *entry & PTE_P && !(*entry & PTE_PS))
			entry = entry_at(space, at, 1, false);
		if (entry && *entry & PTE_P)
			*entry &= ~LWK_PTE_SEEN_BY_LINUX;
	}
	space_fault(space, addr, write, false, false);
}

/* Other threads, and lwkpart.ko for the proxy, while the lock is free. */
static void others(void)
{
	u8 what = take_byte(&input);

	if (depth || !space_of(here())->root)
		return;
	depth++;
	for (u8 n = what & 3; n; n--) {
		if (what & 4)
			ask_for_page(take_address(), what & 8);
		if (what & 16)
			look_through_window(take_address(), what & 32);
		if (what & 64)
			space_revoke(space_of(here()), take_address(), 3 * PAGE_SIZE);
	}
	depth--;
}

static struct lwk_grant *grants(void)
{
	return phys_to_virt(boot->grants);
}

static void grant(struct lwk_grant *grant)
{
	if (grant->state != LWK_GRANT_ASKED)
		return;
	grant->result = 0;
	if (grant->order == LWK_GRANT_PIN) {
		u64 most = MIN(grant->count, LWK_GRANT_PAGES);
		u8 what;

		must(grant->count);
		what = take_byte(&input);
		grant->result = what % 8 ? 1 + take_byte(&input) % most : -EIO;
		for (s64 i = 0; i < grant->result; i++)
			grant->pages[i] =
				(LINUX_PAGES + take_byte(&input) * PAGE_SIZE) |
				(grant->access != LWK_GRANT_READ &&
						 (what & 8 || grant->access == LWK_GRANT_WRITE)
					 ? LWK_GRANT_WRITABLE
					 : 0);
	}
	grant->state = LWK_GRANT_DONE;
}

s64 channel_request(u64 nr, const u64 args[6])
{
	s64 result = 0;

	/* A thread must not wait with the lock, because no other could go on. */
	must(!space_of(here())->lock.locked);
	others();
	/* A borrower whose proxy is gone ends here, and leaves the call as it is. */
	if (this_slot()->borrowed && take_byte(&input) % 8 == 1)
		process_abandon();
	switch (nr) {
	case LWK_CALL_UNMAP:
		must(args[1] && args[0] % PAGE_SIZE == 0 && args[1] % PAGE_SIZE == 0);
		forget_views(here(), args[0], args[0] + args[1]);
		break;
	case LWK_CALL_SHARE:
		result = take_byte(&input) % 4 ? 0 : take_byte(&input) & 1 ? 1 : -EINVAL;
		break;
	case LWK_CALL_RESHARE:
		result = take_byte(&input) % 4 ? 0 : -EACCES;
		grant(grants() + here());
		break;
	case LWK_CALL_GRANT:
	case LWK_CALL_UNSHARE:
		grant(grants() + here());
		break;
	}
	others();
	return result;
}

s64 channel_call_counted(enum lwk_call_kind about, u64 nr, const u64 args[6])
{
	return channel_request(nr, args);
}

void process_abandon(void)
{
	longjmp(end_of_turn, 1);
}

/* The LWK must hold no lock of a space when it calls these. */
void channel_serve_fault(void)
{
	must(!space_of(0)->lock.locked && !space_of(1)->lock.locked);
}

void slot_run_urgent(void)
{
	must(!space_of(0)->lock.locked && !space_of(1)->lock.locked);
	others();
}

/* A long call without the lock: other threads may change mappings, too. */
void process_goes_on(void)
{
	u8 what = take_byte(&input);

	others();
	if (what < 32)
		space_unmap(space_of(here()), take_address(), take_size());
	else if (what < 64)
		space_discard(space_of(here()), take_address(), take_size());
}

/* ---- invariants ---- */

struct census {
	u8 owners[USER_PAGES];
	u8 kernel[LARGE_SIZE / PAGE_SIZE];
	u64 pages_4k, pages_2m; /* of one space */
	u64 user_bytes, kernel_pages;
	/* Some owner writes to the page; of pages without an owner it tells nothing. */
	bool written[USER_PAGES];
};

static struct census census;

static void count_kernel_page(u64 phys)
{
	u64 page = (phys - boot->reserve_start) / PAGE_SIZE;

	must(partition_kernel_page(phys) && !census.kernel[page]);
	census.kernel[page] = 1;
	census.kernel_pages++;
}

static void check_page(u32 slot, struct space *space, u64 addr, u64 entry, u64 size)
{
	const struct area *area = area_at(space, addr);
	u64 phys = entry & PTE_ADDR, absent;

	must(!(entry & PTE_LIMBO) && entry & PTE_P);
	/* A large page in two areas would be copied twice at a fork. */
	must(area && addr >= area->start && addr + size <= area->end);
	/* A page may lack the right to be written: a copy comes first, or a grant for writing. */
	absent = entry & (LWK_PTE_COPY | PTE_GRANTED) ? PTE_W & ~entry : 0;
	must((entry & (PTE_P | PTE_U | PTE_W | PTE_NX)) == (prot_bits(area->prot) & ~absent));
	must(!(entry & LWK_PTE_COPY && entry & PTE_W));
	must(area->shared == !!(entry & PTE_GRANTED));
	if (entry & PTE_GRANTED) {
		must(size == PAGE_SIZE && phys >= LINUX_PAGES);
		return;
	}
	must(phys % size == 0);
	for (u64 at = 0; at < size; at += PAGE_SIZE) {
		int page = partition_user_page(phys + at);

		must(page >= 0);
		if (!census.owners[page]) {
			census.user_bytes += PAGE_SIZE;
			census.written[page] = false;
		}
		census.owners[page]++;
		census.written[page] |= !(entry & LWK_PTE_COPY);
		if (!views[slot][page].addr)
			continue;
		must(views[slot][page].addr == addr + at);
		must(entry & LWK_PTE_SEEN_BY_LINUX && entry & PTE_U);
		must(!views[slot][page].writable || entry & PTE_W);
	}
	census.pages_4k += size == PAGE_SIZE;
	census.pages_2m += size == LARGE_SIZE;
}

/* For loops over arrays of which little is used. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

/* Returns the number of the next entry that is used, or 'end'. */
UNCHECKED static u64 next_used(const u64 *entries, u64 i, u64 end)
{
	while (i < end && !entries[i])
		i++;
	return i;
}

static void check_table(u32 slot, struct space *space, u64 table, u64 addr, unsigned int level)
{
	const u64 *entries = phys_to_virt(table);
	const unsigned int top = table_levels();
	const u64 *common = entry_at(space, LWK_CLOCK_VADDR, 4, false);
	const u64 end = level == top ? ENTRIES / 2 : ENTRIES;

	count_kernel_page(table);
	for (u64 i = 0; (i = next_used(entries, i, end)) < end; i++) {
		u64 entry = entries[i], at = addr + (i << (12 + 9 * (level - 1)));

		if (&entries[i] == common)
			continue;
		if (level == 1 || (level == 2 && entry & PTE_PS)) {
			check_page(slot, space, at, entry, level == 1 ? PAGE_SIZE : LARGE_SIZE);
		} else {
			must(entry & PTE_P && !(entry & PTE_PS));
			check_table(slot, space, entry & PTE_ADDR, at, level - 1);
		}
	}
}

/* Returns how many areas the part of a tree has. */
static u64 check_tree(const struct area *top, u64 *room)
{
	u64 count, left = 0, right = 0;

	*room = 0;
	if (!top)
		return 0;
	must(top->level == (top->left ? top->left->level + 1 : 1));
	must(top->right ? top->right->level + 1 >= top->level : top->level == 1);
	must(!top->right || !top->right->right || top->right->right->level < top->level);
	count = 1 + check_tree(top->left, &left) + check_tree(top->right, &right);
	*room = top->start - (top->previous ? top->previous->end : 0);
	*room = MAX(*room, MAX(left, right));
	must(top->room == *room);
	return count;
}

/* The highest room below 'ceiling', found slowly. */
static u64 room(const struct space *space, u64 ceiling, u64 size)
{
	u64 floor = space->brk < ceiling ? MAX(space->brk, LWK_USER_START) : LWK_USER_START;
	u64 best = 0;

	for (const struct area *area = space->areas; area; area = area->next) {
		u64 end = MIN(area->start, ceiling);

		if (end > size && end - size >= floor)
			best = end - size;
		floor = MAX(floor, area->end);
	}
	return ceiling > size && ceiling - size >= floor ? ceiling - size : best;
}

static void check_areas(struct space *space)
{
	u64 end = LWK_USER_START, count = 0, size = 1UL << (12 + next_mark % 34);
	const struct area *previous = NULL;

	for (const struct area *area = space->areas; area; area = area->next) {
		must(area->previous == previous && area_from(space, area->end - 1) == area);
		previous = area;
		count++;
		must(area->start >= end && area->start < area->end);
		must(area->start % PAGE_SIZE == 0 && area->end % PAGE_SIZE == 0);
		must(!(area->prot & ~PROT_ALL));
		end = area->end;
	}
	must(end <= LWK_USER_END && count == check_tree(space->tree, &end));
	size += size % LARGE_SIZE ? 0 : PAGE_SIZE;
	must(find_room(space, size, MAPPINGS_END) == room(space, MAPPINGS_END, size));
	must(find_room(space, size, LOW_END) == room(space, LOW_END, size));
	for (void *page = space->area_pages; page; page = *(void **)page)
		count_kernel_page(virt_to_phys(page));
}

static void check_space(u32 slot, struct space *space)
{
	must(!space->lock.locked && !space->changing);
	if (!space->root)
		return;
	census.pages_4k = census.pages_2m = 0;
	check_table(slot, space, space->root, 0, table_levels());
	check_areas(space);
	must(census.pages_4k == space->pages_4k && census.pages_2m == space->pages_2m);
}

/* Returns true when no process has a page of these and no window shows one. */
UNCHECKED static bool nobody_has(u32 first)
{
	u64 found = 0;

	for (u32 i = first; i < first + LARGE_PAGES; i++)
		found |= census.owners[i];
	for (u32 i = first; views_used && i < first + LARGE_PAGES; i++)
		found |= views[0][i].addr | views[1][i].addr;
	return !found;
}

static void check_chunk(u32 first)
{
	if (partition_is_whole(first)) {
		must(nobody_has(first));
		return;
	}
	for (u32 i = first; i < first + LARGE_PAGES; i++) {
		must(census.owners[i] <= 1 || !census.written[i]);
		must(census.owners[i] == partition_owners(i));
		for (u32 slot = 0; slot < SLOTS; slot++)
			must(!views[slot][i].addr || census.owners[i]);
	}
}

static void check_all(void)
{
	fuzz_memset(&census, 0, offsetof(struct census, written));
	for (u32 i = 0; i < SLOTS; i++) {
		check_space(i, space_of(i));
		check_space(i, &slot_at(i)->offer.space);
	}
	must(user_free_bytes() + census.user_bytes == status->user_bytes);
	must(boot_pages + census.kernel_pages == partition_kernel_pages_taken());
	for (u32 i = 0; i < USER_PAGES; i += LARGE_PAGES)
		check_chunk(i);
}

/* ---- calls ---- */

static enum placement take_placement(void)
{
	return take_byte(&input) % (PLACE_REPLACE + 1);
}

static u32 take_prot(void)
{
	u8 prot = take_byte(&input);

	return prot < 128 ? PROT_READ | PROT_WRITE : prot & PROT_ALL;
}

static void write_mark(u64 addr)
{
	u64 mark = next_mark++ * SLOTS + owner(here()), *at;

	addr = ALIGN_DOWN(addr, PAGE_SIZE);
	at = space_hold(space_of(here()), addr, true, true);
	if (!at)
		return;
	if (at != linux_page) {
		check_contents(here(), at);
		*at = mark;
	}
	space_release(space_of(here()));
}

static void begin_process(u32 slot)
{
	struct space *space = space_of(slot);

	from[slot] = next_mark;
	until[slot] = 0;
	if (space_init(space) < 0)
		/* A space that kept its table would free it once more. */
		must(!space->root);
	else
		space->brk_start = space->brk = 64 * LARGE_SIZE;
}

static void end_process(u32 slot)
{
	forget_views(slot, 0, LWK_USER_END);
	space_leave();
	slot_at(slot)->control->page_root = 0;
	/* The process has no other threads any more. */
	depth++;
	if (!fork_return())
		space_destroy(space_of(slot));
	depth--;
}

static void copy_process(void)
{
	u32 child = !here();
	struct space *parent = space_of(here());

	if (space_of(child)->root || lent)
		return;
	space_keep(parent);
	begin_process(child);
	from[child] = from[!child];
	if (space_of(child)->root && space_copy(space_of(child), parent)) {
		partition_run(child);
		end_process(child);
		partition_run(!child);
	}
	until[child] = next_mark;
	space_let_change(parent);
}

/* Begins a process that borrows the memory which this slot's process lends. */
static void borrow(void)
{
	struct slot *slot = this_slot();
	u32 child = !slot->index;

	slot->fpu_area = slot_at(child)->fpu_area = no_registers;
	begin_process(child);
	if (!space_of(child)->root)
		return;
	/* Number 1, open. */
	slot->offer.state = 1 << 2 | 1;
	partition_run(child);
	/* Neither process has other threads. */
	depth++;
	must(!fork_adopt(!child, 1));
	depth--;
	partition_run(!child);
}

/* vfork(2): the memory is in the offer, another process may borrow it, and it comes back. */
static void lend_or_return(void)
{
	struct slot *slot = this_slot();

	if (!lent) {
		space_revoke_all(&slot->own.space);
		forget_views(slot->index, 0, LWK_USER_END);
		space_move(&slot->offer.space, &slot->own.space);
		slot->offer.lent = lent = true;
		if (!space_of(!slot->index)->root && take_byte(&input) & 1)
			borrow();
	} else if (slot->offer.space.root) {
		space_move(&slot->own.space, &slot->offer.space);
		space_resume(&slot->own.space);
		lent = false;
	}
}

static void set_policy(void)
{
	struct policy policy = { take_byte(&input) % (MPOL_PREFERRED_MANY + 1),
				 1 + take_byte(&input) % 3 };

	if (policy.mode == MPOL_DEFAULT || policy.mode == MPOL_LOCAL)
		policy.nodes = 0;
	if (take_byte(&input) & 1)
		this_thread()->policy = policy;
	else
		space_set_policy(space_of(here()), ALIGN_DOWN(take_address(), PAGE_SIZE),
				 ALIGN_UP(take_size(), PAGE_SIZE), &policy, take_byte(&input) & 1);
}

static void call(u8 number)
{
	struct space *space = space_of(here());
	u64 addr, size;
	u32 prot;

	switch (number % 20) {
	case 0 ... 2:
		addr = take_address();
		size = take_size();
		prot = take_prot();
		space_map(space, addr, size, prot, take_placement(), addr & LARGE_SIZE);
		break;
	case 3:
		addr = take_address();
		space_unmap(space, addr, take_size());
		break;
	case 4:
		addr = take_address();
		size = take_size();
		space_protect(space, addr, size, take_byte(&input) & 15);
		break;
	case 5:
		addr = take_address();
		space_discard(space, addr, take_size());
		break;
	case 6:
	case 7:
		addr = take_address();
		size = take_size();
		prot = take_byte(&input);
		space_resize(space, addr, size, take_size(), prot & 1 ? prot & 7 : 0,
			     prot & 2 ? take_address() : 0);
		break;
	case 8:
		space_set_brk(space, 64 * LARGE_SIZE + take_size());
		break;
	case 9:
		space_fault(space, take_address(), take_byte(&input) & 1, take_byte(&input) & 1,
			    true);
		break;
	case 10 ... 12:
		write_mark(take_address());
		break;
	case 13:
		addr = take_address();
		size = take_size();
		prot = take_prot();
		space_map_shared(space, addr, size, prot, take_placement(), 0, 3, 0);
		break;
	case 14:
		copy_process();
		break;
	case 15:
		lend_or_return();
		break;
	case 16:
		set_policy();
		break;
	case 17:
		addr = take_address();
		size = take_size();
		space_set_file(space, addr, size, take_byte(&input) % 3, take_number(&input, 2));
		break;
	case 18:
		look_through_window(take_address(), take_byte(&input) & 1);
		break;
	case 19:
		addr = ALIGN_DOWN(take_address(), PAGE_SIZE);
		size = MIN(ALIGN_UP(take_size(), PAGE_SIZE), 4 * LARGE_SIZE);
		if (range_valid(addr, size))
			space_populate(space, addr, size);
		break;
	}
}

static void step(void)
{
	u8 what = take_byte(&input);
	u32 slot = what >> 7;

	partition_run(slot);
	depth = 0;
	if (setjmp(end_of_turn))
		end_process(slot);
	else if (what % 128 >= 126 && space_of(slot)->root)
		end_process(slot);
	else if (space_of(slot)->root)
		call(what);
	else if (!slot_at(slot)->offer.space.root && !slot_at(!slot)->borrowed)
		begin_process(slot);
	else
		lend_or_return();
	check_all();
}

static void end_all(void)
{
	/* The end of a borrower gives its parent memory. */
	for (u32 i = 0; i < 2 * SLOTS; i++) {
		partition_run(i % SLOTS);
		if (this_slot()->offer.space.root)
			lend_or_return();
		if (space_of(here())->root)
			end_process(here());
	}
	check_all();
	must(user_free_bytes() == status->user_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u8 pages, levels;

	/* Many short lives find more than one long one. */
	input = (struct input){ data, size < 512 ? size : 512 };
	pages = take_byte(&input);
	levels = take_byte(&input);
	partition_reset(12 + pages % 128, levels == 5 ? 5 : 4);
	space_setup();
	boot_pages = partition_kernel_pages_taken();
	if (views_used)
		fuzz_memset(views, 0, sizeof(views));
	views_used = false;
	fuzz_memset(grants(), 0, SLOTS * sizeof(struct lwk_grant));
	next_mark = 1;
	lent = false;
	partition_run(0);
	begin_process(0);
	while (input.left)
		step();
	end_all();
	return 0;
}
