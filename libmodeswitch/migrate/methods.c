// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/methods.h"

#include <stdlib.h>

#include "migrate/base/context.h"
#include "migrate/base/throttle.h"
#include "migrate/find/page_list.h"
#include "migrate/find/scan.h"
#include "migrate/request.h"

/*
 * Adds pages that a walk found to the list of the process, and to 'refs' all of them or only those
 * that are referenced. Runs a round whenever 'refs' has n pages.
 */
static int collect(struct migration *migration, size_t process, const uint64_t *words, ssize_t n,
		   bool referenced_only, struct refs *refs, struct ms_error *err)
{
	for (ssize_t i = 0; i < n; i++) {
		struct migrate_process *whose = &migration->processes[process];
		struct migrate_page *page = page_list_add(migration, whose, words[i]);
		bool referenced = words[i] & LWKPART_PAGE_REFERENCED;

		if (!page)
			continue;
		if (referenced_only && referenced) {
			page->hot = true;
			migration->state.hot_found += page_bytes(page);
		}
		if ((!referenced_only || referenced) &&
		    refs_add(migration, refs, process, whose->n - 1) < 0)
			return ms_fail(err, "out of memory");
		if (refs->pages >= migration->n && run_round(migration, refs, err) < 0)
			return -1;
	}
	return 0;
}

/* The page walk. It looks no further than a round needs, so that it sees the use at that time. */
static int walk(struct migration *migration, bool referenced_only, struct refs *refs,
		struct ms_error *err)
{
	uint64_t *words = calloc(SCAN_CHUNK, sizeof(*words));
	int ret = words ? 0 : ms_fail(err, "out of memory");

	for (size_t i = 0; i < migration->n_processes; i++) {
		uint64_t at = 0;

		while (ret == 0 && at != SCAN_END && !migration_stopped(migration)) {
			size_t room = migration->n - refs->pages;
			ssize_t n = scan_part(migration, &migration->processes[i], &at, SCAN_END,
					      false, words, room < SCAN_CHUNK ? room : SCAN_CHUNK);

			ret = collect(migration, i, words, n, referenced_only, refs, err);
		}
	}
	free(words);
	migration->state.scans++;
	return ret;
}

/* The page walk of Severe and Mild. */
static int walk_referenced(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (scan_forget_use(migration, err) < 0)
		return -1;
	throttle_wait(migration, 0, request_use_window_ms(migration->request));
	return walk(migration, true, refs, err);
}

int run_periodical(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	return walk(migration, false, refs, err) < 0 ? -1 : run_round(migration, refs, err);
}

int run_mild(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (walk_referenced(migration, refs, err) < 0)
		return -1;
	return move_waiting(migration, refs, err);
}

/* Adds waiting pages, those that are referenced or the others, until there are n. */
static int choose(struct migration *migration, struct refs *refs, bool referenced)
{
	for (size_t i = 0; i < migration->n_processes; i++) {
		const struct migrate_process *process = &migration->processes[i];

		for (size_t j = 0; j < process->n && refs->pages < migration->n; j++) {
			const struct migrate_page *page = &process->pages[j];

			if (page->state == PAGE_WAITING &&
			    !(page->word & LWKPART_PAGE_REFERENCED) == !referenced &&
			    refs_add(migration, refs, i, j) < 0)
				return -1;
		}
	}
	return 0;
}

int run_severe(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (walk_referenced(migration, refs, err) < 0)
		return -1;
	while (!migration_stopped(migration)) {
		/* The list starts again from empty: pages that are in use now come first. */
		refs->n = refs->pages = 0;
		if (page_list_update(migration, false, 0, err) < 0)
			return -1;
		if (choose(migration, refs, true) < 0 || choose(migration, refs, false) < 0)
			return ms_fail(err, "out of memory");
		if (!refs->n)
			break;
		if (run_round(migration, refs, err) < 0)
			return -1;
	}
	return 0;
}
