/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Physical memory is in two pools that never mix: the reserve is the
 * kernel's, in 4 KB pages; the rest is for processes, in 2 MB chunks, some of which
 * are broken into 4 KB pages. A chunk whose pages have all come back is whole again.
 */
#include "lwk/paging/pages.h"

#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/paging/clear.h"
#include "lwk/paging/direct_map.h"
#include "lwk/process/slot.h"
#include "lwk/watch/account.h"
#include "lwk/watch/panic.h"

#define CHUNK_PAGES (LARGE_SIZE / PAGE_SIZE)

enum chunk_state { CHUNK_WHOLE, CHUNK_PARTIAL, CHUNK_USED };

struct chunk {
	struct chunk *next, *previous; /* in the list of its state, if WHOLE or PARTIAL */
	u64 phys;
	u32 node;
	u16 free_pages;
	u8 state;
	bool clear;			/* its free pages are zero */
	bool split;			/* some process has, or could have, single pages of it */
	u64 free_map[CHUNK_PAGES / 64]; /* split: bit set: the page is free */
	/* The owners of each page besides one; until it is split, the first count is for all. */
	u16 others[CHUNK_PAGES];
};

#define MAX_NODES 64

static struct spinlock lock;
static struct chunk *chunks; /* in the order of boot->mem */
static u64 n_chunks;
static struct chunk *whole[MAX_NODES], *partial[MAX_NODES];

/* Pages whose memory is damaged. They stay taken for ever. */
#define MAX_RETIRED 64
static u64 retired[MAX_RETIRED];
static u32 n_retired;

/* Bytes taken and not given back; under the lock. */
static u64 user_taken, kernel_taken;

static u64 reserve_next, reserve_end; /* memory that was never used */
static void *kernel_free;	      /* pages that came back, linked by their first word */

static void list_add(struct chunk **list, struct chunk *chunk)
{
	chunk->previous = NULL;
	chunk->next = *list;
	if (*list)
		(*list)->previous = chunk;
	*list = chunk;
}

static void list_remove(struct chunk **list, struct chunk *chunk)
{
	if (chunk->previous)
		chunk->previous->next = chunk->next;
	else
		*list = chunk->next;
	if (chunk->next)
		chunk->next->previous = chunk->previous;
}

/*
 * Counts so many pages of a node as taken, or given back if negative, and publishes that. With the
 * lock held. All is counted in the line of the first slot, because one process may give back what
 * another has taken.
 */
static void account_pages(u32 node, s64 small, s64 large)
{
	struct lwk_cpu_memory *memory = &status->cpu[0].memory;
	struct lwk_node_pages *pages = &memory->node[MIN(node, LWK_STATUS_NODES - 1)];

	user_taken += small * (s64)PAGE_SIZE + large * (s64)LARGE_SIZE;
	group_begin(&memory->seq);
	pages->pages_4k += small;
	pages->pages_2m += large;
	pages->peak_bytes =
		MAX(pages->peak_bytes, pages->pages_4k * PAGE_SIZE + pages->pages_2m * LARGE_SIZE);
	pages->peak_4k = MAX(pages->peak_4k, pages->pages_4k);
	pages->peak_2m = MAX(pages->peak_2m, pages->pages_2m);
	memory->user_peak_bytes = MAX(memory->user_peak_bytes, user_taken);
	group_end(&memory->seq);
}

void user_pages_publish(const struct space *space)
{
	struct slot *slot = this_slot();
	const struct process *process = slot->visited ? slot->visited : slot->process;
	struct lwk_cpu_memory *memory =
		process ? &process->first->status->memory : &slot->status->memory;

	spin_lock(&lock);
	group_begin(&memory->seq);
	memory->pages_4k = space->pages_4k;
	memory->pages_2m = space->pages_2m;
	memory->peak_bytes = space->peak_bytes;
	group_end(&memory->seq);
	spin_unlock(&lock);
}

static void account_kernel(s64 bytes)
{
	struct lwk_cpu_memory *memory = &status->cpu[0].memory;

	kernel_taken += bytes;
	group_begin(&memory->seq);
	memory->kernel_bytes += bytes;
	memory->kernel_peak_bytes = MAX(memory->kernel_peak_bytes, kernel_taken);
	group_end(&memory->seq);
}

void user_pages_forget(struct slot *slot)
{
	struct lwk_cpu_memory *memory = &slot->status->memory;

	spin_lock(&lock);
	group_begin(&memory->seq);
	memory->pages_4k = memory->pages_2m = 0;
	group_end(&memory->seq);
	spin_unlock(&lock);
}

u64 kernel_used_bytes(void)
{
	return reserve_next - boot->reserve_start;
}

void pages_init(void)
{
	u64 reserve = boot->reserve_start, user_bytes = 0, used;

	/* mem[0] starts with the reserve. */
	for (u32 i = 0; i < boot->n_mem; i++) {
		u64 bytes = boot->mem[i].size - (i == 0 ? boot->reserve_size : 0);

		n_chunks += bytes / LARGE_SIZE;
	}
	used = ALIGN_UP(reserve + boot->reserve_used, PAGE_SIZE);
	chunks = phys_to_virt(used);
	reserve_next = ALIGN_UP(used + n_chunks * sizeof(*chunks), PAGE_SIZE);
	reserve_end = reserve + boot->reserve_size;
	if (reserve_next >= reserve_end)
		panic("the kernel's reserve of %llu MB is too small for %llu MB of memory",
		      boot->reserve_size >> 20, n_chunks * 2);
	/* memory_clear() begins behind it. */
	memset(&chunks[n_chunks], 0, phys_to_virt(reserve_next) - (void *)&chunks[n_chunks]);

	for (u32 i = 0, c = 0; i < boot->n_mem; i++) {
		u64 start = boot->mem[i].start + (i == 0 ? boot->reserve_size : 0);
		u64 end = boot->mem[i].start + boot->mem[i].size;

		for (; start + LARGE_SIZE <= end; start += LARGE_SIZE, c++) {
			chunks[c] = (struct chunk){
				.phys = start,
				.node = MIN(boot->mem[i].node, MAX_NODES - 1),
				.state = CHUNK_WHOLE,
				.clear = !memory_is_own(),
			};
			list_add(&whole[chunks[c].node], &chunks[c]);
			user_bytes += LARGE_SIZE;
		}
	}
	status->user_bytes = user_bytes;
	status->kernel_bytes = boot->reserve_size;
	status->kernel_node = boot->mem[0].node;
	status->kernel_used = kernel_taken = reserve_next - reserve;
	WRITE_ONCE(status->kernel_end, kernel_used_bytes());
}

void *kernel_boot_alloc(size_t size)
{
	void *memory;

	size = ALIGN_UP(size, PAGE_SIZE);
	spin_lock(&lock);
	if (size > reserve_end - reserve_next)
		panic("the kernel's reserve of %llu MB is too small", boot->reserve_size >> 20);
	memory = phys_to_virt(reserve_next);
	reserve_next += size;
	WRITE_ONCE(status->kernel_end, kernel_used_bytes());
	kernel_taken += size;
	status->kernel_used += size;
	spin_unlock(&lock);
	return memset(memory, 0, size);
}

void *kernel_page_alloc(void)
{
	void *page = NULL;

	spin_lock(&lock);
	if (kernel_free) {
		page = kernel_free;
		kernel_free = *(void **)page;
	} else if (reserve_next < reserve_end) {
		page = phys_to_virt(reserve_next);
		reserve_next += PAGE_SIZE;
		WRITE_ONCE(status->kernel_end, kernel_used_bytes());
	}
	if (page)
		account_kernel(PAGE_SIZE);
	spin_unlock(&lock);
	if (page)
		memset(page, 0, PAGE_SIZE);
	return page;
}

void kernel_page_free(void *page)
{
	spin_lock(&lock);
	*(void **)page = kernel_free;
	kernel_free = page;
	account_kernel(-(s64)PAGE_SIZE);
	spin_unlock(&lock);
}

static struct chunk *whole_chunk(u32 node)
{
	return whole[node];
}

/* Returns a chunk with free pages of 4 KB; breaks a whole one if there is none. */
static struct chunk *partial_chunk(u32 node)
{
	struct chunk *chunk = partial[node];

	if (chunk || !(chunk = whole[node]))
		return chunk;
	list_remove(&whole[node], chunk);
	chunk->split = true;
	memset(chunk->free_map, 0xff, sizeof(chunk->free_map));
	chunk->free_pages = CHUNK_PAGES;
	chunk->state = CHUNK_PARTIAL;
	list_add(&partial[node], chunk);
	return chunk;
}

static struct chunk *chunk_find(struct chunk *(*of_node)(u32 node), struct choice choice)
{
	struct chunk *chunk = of_node(MIN(choice.node, MAX_NODES - 1));

	for (u32 n = 0; !chunk && n < MAX_NODES; n++)
		if (choice.nodes & 1UL << n)
			chunk = of_node(n);
	return chunk;
}

/*
 * Returns the chunk that a page is in, or NULL if it is none of the processes' memory. The ranges
 * are few, so the walk is short.
 */
static struct chunk *chunk_at(u64 phys)
{
	u64 first = 0;

	for (u32 i = 0; i < boot->n_mem; i++) {
		u64 start = boot->mem[i].start + (i == 0 ? boot->reserve_size : 0);
		u64 end = boot->mem[i].start + boot->mem[i].size;

		if (phys >= start && phys < end)
			return &chunks[first + (phys - start) / LARGE_SIZE];
		first += (end - start) / LARGE_SIZE;
	}
	return NULL;
}

static struct chunk *chunk_of(u64 phys)
{
	struct chunk *chunk = chunk_at(phys);

	if (!chunk)
		panic("page %llx is not of this partition", phys);
	return chunk;
}

/* True when a page of [phys, phys + size) is retired. */
static bool has_retired(u64 phys, u64 size)
{
	for (u32 i = 0; i < READ_ONCE(n_retired); i++)
		if (retired[i] - phys < size)
			return true;
	return false;
}

void user_page_retire(u64 phys)
{
	phys = ALIGN_DOWN(phys, PAGE_SIZE);
	spin_lock(&lock);
	if (chunk_at(phys) && !has_retired(phys, PAGE_SIZE) && n_retired < MAX_RETIRED) {
		retired[n_retired] = phys;
		WRITE_ONCE(n_retired, n_retired + 1);
	}
	spin_unlock(&lock);
}

u32 user_page_node(u64 phys)
{
	return chunk_of(phys)->node;
}

/* Takes a large page; *clear: it is zero. */
static u64 take_large(struct choice choice, bool *clear)
{
	struct chunk *chunk;

	spin_lock(&lock);
	chunk = chunk_find(whole_chunk, choice);
	if (chunk) {
		list_remove(&whole[chunk->node], chunk);
		chunk->state = CHUNK_USED;
		chunk->free_pages = 0;
		chunk->split = false;
		*clear = chunk->clear;
		chunk->clear = false;
		account_pages(chunk->node, 0, 1);
	}
	spin_unlock(&lock);
	still_alive();
	return chunk ? chunk->phys : 0;
}

/* Takes a page of 4 KB; *clear: it is zero. */
static u64 take_page(struct choice choice, bool *clear)
{
	struct chunk *chunk;
	u64 phys = 0;

	spin_lock(&lock);
	chunk = chunk_find(partial_chunk, choice);
	if (chunk) {
		u32 word = 0, bit;

		while (!chunk->free_map[word])
			word++;
		bit = __builtin_ctzl(chunk->free_map[word]);
		chunk->free_map[word] &= ~(1UL << bit);
		phys = chunk->phys + (word * 64 + bit) * PAGE_SIZE;
		*clear = chunk->clear;
		if (--chunk->free_pages == 0) {
			list_remove(&partial[chunk->node], chunk);
			chunk->state = CHUNK_USED;
		}
		account_pages(chunk->node, 1, 0);
	}
	spin_unlock(&lock);
	still_alive();
	return phys;
}

u64 user_page_alloc(struct choice choice, bool large, bool any_contents)
{
	bool clear;
	u64 phys = large ? take_large(choice, &clear) : take_page(choice, &clear);

	if (phys && !clear && !any_contents)
		memset(phys_to_virt(phys), 0, large ? LARGE_SIZE : PAGE_SIZE);
	return phys;
}

/* With the lock held: gives up one owner's page. The last owner frees it. */
static void drop_page(struct chunk *chunk, u32 page)
{
	u64 bit = 1UL << page % 64;

	if (chunk->others[page]) {
		chunk->others[page]--;
		return;
	}
	if (chunk->state == CHUNK_USED) {
		chunk->state = CHUNK_PARTIAL;
		list_add(&partial[chunk->node], chunk);
	}
	if (chunk->state != CHUNK_PARTIAL || chunk->free_map[page / 64] & bit)
		panic("page %llx freed twice", chunk->phys + page * PAGE_SIZE);
	chunk->free_map[page / 64] |= bit;
	chunk->clear = false;
	if (++chunk->free_pages == CHUNK_PAGES) {
		list_remove(&partial[chunk->node], chunk);
		chunk->state = CHUNK_WHOLE;
		list_add(&whole[chunk->node], chunk);
	}
	account_pages(chunk->node, -1, 0);
}

void user_page_free(u64 phys)
{
	struct chunk *chunk = chunk_of(phys);

	if (has_retired(phys, PAGE_SIZE))
		return;
	spin_lock(&lock);
	drop_page(chunk, (phys - chunk->phys) / PAGE_SIZE);
	spin_unlock(&lock);
}

void user_large_free(u64 phys)
{
	struct chunk *chunk = chunk_of(phys);

	if (has_retired(phys, LARGE_SIZE))
		user_large_split(phys);
	spin_lock(&lock);
	if (chunk->split) {
		for (u32 i = 0; i < CHUNK_PAGES; i++)
			if (!has_retired(phys + i * PAGE_SIZE, PAGE_SIZE))
				drop_page(chunk, i);
	} else if (chunk->others[0]) {
		chunk->others[0]--;
	} else {
		if (chunk->state != CHUNK_USED || chunk->phys != phys)
			panic("large page %llx freed twice", phys);
		chunk->state = CHUNK_WHOLE;
		list_add(&whole[chunk->node], chunk);
		account_pages(chunk->node, 0, -1);
	}
	spin_unlock(&lock);
}

void user_large_split(u64 phys)
{
	struct chunk *chunk = chunk_of(phys);

	spin_lock(&lock);
	if (!chunk->split) {
		chunk->split = true;
		memset(chunk->free_map, 0, sizeof(chunk->free_map));
		for (u32 i = 1; i < CHUNK_PAGES; i++)
			chunk->others[i] = chunk->others[0];
		account_pages(chunk->node, CHUNK_PAGES, -1);
	}
	spin_unlock(&lock);
}

/* Adds 'more' other owners to each page of 4 KB in this one. True: one of them has some now. */
static bool count_others(u64 phys, bool large, u16 more)
{
	struct chunk *chunk = chunk_of(phys);
	u32 first = (phys - chunk->phys) / PAGE_SIZE, n;
	bool shared = false;

	spin_lock(&lock);
	n = large && chunk->split ? CHUNK_PAGES : 1;
	for (u32 i = first; i < first + n; i++)
		shared |= (chunk->others[i] += more) > 0;
	spin_unlock(&lock);
	return shared;
}

void user_page_share(u64 phys, bool large)
{
	count_others(phys, large, 1);
}

bool user_page_is_shared(u64 phys, bool large)
{
	return count_others(phys, large, 0);
}
