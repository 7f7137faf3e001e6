// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/find/page_list.h"

#include <stdlib.h>
#include <string.h>

#include "migrate/base/context.h"
#include "migrate/find/scan.h"

#define MOST_WEIGHT 32768
/* A sample has about so many pieces, of so many pages each. */
#define SAMPLE_PIECES 64
#define SAMPLE_PIECE 16

/*
 * The score of a page is the inverse of the shortest window in which it was seen in use; a look
 * without use sets an upper bound. So pages that are hot now come before pages that were hot.
 */
static void score_use(struct migration *migration, struct migrate_page *page, unsigned window_ms)
{
	unsigned weight = MOST_WEIGHT / (window_ms ? window_ms : 1), score = page->score;

	weight = weight ? weight : 1;
	if (!(page->word & LWKPART_PAGE_REFERENCED)) {
		page->score = score < weight / 2 ? score : weight / 2;
		return;
	}
	score = (score > weight ? score : weight) + weight / 4;
	page->score = score < UINT16_MAX ? score : UINT16_MAX;
	if (!page->hot)
		migration->state.hot_found += page_bytes(page);
	page->hot = true;
}

static int make_room(struct migrate_process *process, size_t n)
{
	struct migrate_page *more;

	if (process->n + n <= process->room)
		return 0;
	process->room = (process->n + n) * 3 / 2;
	more = reallocarray(process->pages, process->room, sizeof(*more));
	if (!more)
		return -1;
	process->pages = more;
	return 0;
}

struct migrate_page *page_list_add(struct migration *migration, struct migrate_process *process,
				   uint64_t word)
{
	struct migrate_page *page;

	/*
	 * A huge page that has formed since the last scan can begin before pages that are listed.
	 */
	if (process->n &&
	    (word & ~(PAGE_BYTES - 1)) <= page_address(&process->pages[process->n - 1]))
		return NULL;
	if (make_room(process, 1) < 0)
		return NULL;
	page = &process->pages[process->n++];
	*page = (struct migrate_page){ .word = word };
	migration->state.found += page_bytes(page);
	return page;
}

/* The scan has found a listed page: it is on the nodes still, or again. */
static void update(struct migration *migration, struct migrate_page *page, uint64_t word)
{
	uint64_t before = page_bytes(page);

	page->word = word;
	if (page->state == PAGE_MOVED)
		page->state = PAGE_LEFT + MS_LEFT_RETURNED;
	/* A new page at the same address. */
	if (page->state == PAGE_GONE) {
		page->state = PAGE_WAITING;
		before = 0;
	}
	/* The page may have become huge, or may have been split. */
	migration->state.found += page_bytes(page) - before;
}

/* The scan has not found a listed page. One that has moved stays so: it must not move twice. */
static void page_went(struct migration *migration, struct migrate_page *page)
{
	if (page->state == PAGE_MOVED || page->state == PAGE_LEFT + MS_LEFT_RETURNED)
		return;
	if (page->state == PAGE_WAITING)
		migration->state.gone += page_bytes(page);
	page->state = PAGE_GONE;
}

/*
 * Enters the words of a scan into the list up to the first that is not listed; nearly always all
 * are. Returns how many were; *at is the place in the list for the next one.
 */
static size_t merge_known(struct migration *migration, struct migrate_process *process,
			  const uint64_t *words, size_t n, unsigned window_ms, size_t *at)
{
	size_t i = 0, j;

	for (j = 0; j < n; j++) {
		uint64_t address = words[j] & ~(PAGE_BYTES - 1);

		while (i < process->n && page_address(&process->pages[i]) < address)
			page_went(migration, &process->pages[i++]);
		if (i == process->n || page_address(&process->pages[i]) != address)
			break;
		update(migration, &process->pages[i], words[j]);
		if (window_ms)
			score_use(migration, &process->pages[i], window_ms);
		i++;
	}
	for (; j == n && i < process->n; i++)
		page_went(migration, &process->pages[i]);
	*at = i;
	return j;
}

/* Enters the words of a scan of the whole process. 0, or -1 without memory. */
static int merge(struct migration *migration, struct migrate_process *process,
		 const uint64_t *words, size_t n, unsigned window_ms)
{
	struct migrate_process merged = { 0 };
	size_t i, j = merge_known(migration, process, words, n, window_ms, &i);

	if (j == n)
		return 0;
	if (make_room(&merged, process->n + n + 1) < 0)
		return -1;
	memcpy(merged.pages, process->pages, i * sizeof(*merged.pages));
	merged.n = i;
	while (i < process->n || j < n) {
		struct migrate_page *old = i < process->n ? &process->pages[i] : NULL;
		uint64_t address = j < n ? words[j] & ~(PAGE_BYTES - 1) : SCAN_END;
		struct migrate_page *page = &merged.pages[merged.n];

		if (old && page_address(old) < address) {
			page_went(migration, old);
			merged.pages[merged.n++] = *old;
			i++;
			continue;
		}
		if (old && page_address(old) == address) {
			*page = *old;
			merged.n++;
			i++;
			update(migration, page, words[j]);
		} else {
			page = page_list_add(migration, &merged, words[j]);
		}
		j++;
		if (page && window_ms)
			score_use(migration, page, window_ms);
	}
	free(process->pages);
	process->pages = merged.pages;
	process->n = merged.n;
	process->room = merged.room;
	return 0;
}

int page_list_update(struct migration *migration, bool clear, unsigned window_ms,
		     struct ms_error *err)
{
	uint64_t *words = NULL;
	size_t room = 0, n;
	int ret = 0;

	for (size_t i = 0; i < migration->n_processes && ret == 0; i++) {
		struct migrate_process *process = &migration->processes[i];

		ret = scan_process(migration, process, clear, &words, &room, &n);
		/*
		 * After a scan that was broken off, a page that was not found may still be there.
		 */
		if (ret == 0 && !process->locked && !migration_stopped(migration))
			ret = merge(migration, process, words, n, window_ms);
	}
	free(words);
	migration->state.scans++;
	return ret < 0 ? ms_fail(err, "out of memory") : 0;
}

/* Adds up, of a piece of the list, the bytes that are on the nodes and the bytes in use. */
static void sample_piece(struct migration *migration, struct migrate_process *process, size_t first,
			 uint64_t *there, uint64_t *used)
{
	size_t last = first + SAMPLE_PIECE < process->n ? first + SAMPLE_PIECE : process->n;
	uint64_t words[SAMPLE_PIECE], at = page_address(&process->pages[first]);
	uint64_t end = page_address(&process->pages[last - 1]) + PAGE_BYTES;
	ssize_t n = scan_part(migration, process, &at, end, false, words, SAMPLE_PIECE);

	for (ssize_t i = 0; i < n; i++) {
		struct migrate_page page = { .word = words[i] };

		*there += page_bytes(&page);
		*used += words[i] & LWKPART_PAGE_REFERENCED ? page_bytes(&page) : 0;
	}
}

uint64_t page_list_sample(struct migration *migration)
{
	const struct ms_migrate_state *state = &migration->state;
	uint64_t there = 0, used = 0;
	size_t all = 0, every, at = 0;

	for (size_t i = 0; i < migration->n_processes; i++)
		all += migration->processes[i].n;
	every = all / SAMPLE_PIECES > SAMPLE_PIECE ? all / SAMPLE_PIECES : SAMPLE_PIECE;
	for (size_t i = 0; i < migration->n_processes; i++) {
		struct migrate_process *process = &migration->processes[i];

		/* Random distances, because programs often use memory at regular ones. */
		for (; at < process->n; at += every / 2 + random() % every)
			sample_piece(migration, process, at, &there, &used);
		at -= process->n;
	}
	if (!there)
		return 0;
	return (double)used / there * (state->found - state->moved) / PAGE_BYTES;
}
