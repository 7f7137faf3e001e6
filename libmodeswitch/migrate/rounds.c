// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "migrate/base/context.h"
#include "migrate/base/throttle.h"
#include "migrate/move.h"

/* The longest time of one call that moves pages, which nobody can stop meanwhile. */
#define SLICE_NS 100000000LL
/* With limits, the work between two sleeps is what the limits allow in this time. */
#define LIMITED_SECONDS 0.1

static struct migrate_page *page_of(const struct migration *migration, struct ref ref)
{
	return &migration->processes[ref.process].pages[ref.page];
}

int refs_add(struct migration *migration, struct refs *refs, size_t process, size_t page)
{
	struct ref *more;

	if (refs->n == refs->room) {
		refs->room = refs->room * 2 + 1024;
		more = reallocarray(refs->all, refs->room, sizeof(*more));
		if (!more)
			return -1;
		refs->all = more;
	}
	refs->all[refs->n] = (struct ref){ process, page };
	refs->pages += page_bytes(page_of(migration, refs->all[refs->n++])) / PAGE_BYTES;
	return 0;
}

/* Adapts the pages of one call to the time that the last one took. */
static void adapt_slice(struct migration *migration, uint64_t pages, int64_t took)
{
	const struct throttle *throttle = &migration->throttle;
	double per_second = (double)pages * 1e9 / (took > 0 ? took : 1), slice;

	slice = per_second * SLICE_NS / 1e9;
	if (throttle->cpu_share > 0)
		slice = fmin(slice, per_second * LIMITED_SECONDS * throttle->cpu_share);
	if (throttle->bandwidth)
		slice = fmin(slice, LIMITED_SECONDS * throttle->bandwidth / PAGE_BYTES);
	slice = fmin(fmin(slice, migration->slice * 2), migration->n);
	migration->slice = fmax(slice, MS_MIGRATE_MIN_PAGES);
}

/* Takes waiting pages of one process, from refs->all[*at] on, up to a slice of them. */
static size_t take_slice(struct migration *migration, const struct refs *refs, size_t *at,
			 struct migrate_page **pages, uint64_t *weight)
{
	uint32_t process = refs->all[*at].process;
	bool hugetlb = false;
	size_t n = 0;

	for (*weight = 0; *at < refs->n && refs->all[*at].process == process; (*at)++) {
		struct migrate_page *page = page_of(migration, refs->all[*at]);
		uint64_t more = page_bytes(page) / PAGE_BYTES;

		if (page->state != PAGE_WAITING)
			continue;
		/* Pages of hugetlbfs go apart: they can fail where other pages do not. */
		if (n && (*weight + more > migration->slice ||
			  hugetlb != !!(page->word & LWKPART_PAGE_HUGETLB)))
			break;
		hugetlb = page->word & LWKPART_PAGE_HUGETLB;
		pages[n++] = page;
		*weight += more;
	}
	return n;
}

/* Moves the pages in the list, and empties it. 0, also when it was stopped; or -1. */
static int move_refs(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	struct migrate_page **pages = calloc(refs->n + 1, sizeof(*pages));
	int ret = pages ? 0 : ms_fail(err, "out of memory");

	for (size_t at = 0; ret == 0 && at < refs->n && !migration_stopped(migration);) {
		struct migrate_process *process = &migration->processes[refs->all[at].process];
		uint64_t before = migration->state.moved, weight;
		int64_t start = clock_ns();
		size_t n = take_slice(migration, refs, &at, pages, &weight);

		if (!n)
			continue;
		ret = pages_move(migration, process, pages, n, err);
		adapt_slice(migration, weight, clock_ns() - start);
		if (ret == 0)
			throttle_wait(migration, migration->state.moved - before, 0);
	}
	free(pages);
	refs->n = 0;
	refs->pages = 0;
	return ret;
}

int run_round(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (!refs->n)
		return 0;
	if (move_refs(migration, refs, err) < 0)
		return -1;
	migration->state.rounds++;
	throttle_wait(migration, 0, migration->request->sleep_ms);
	return 0;
}

int move_waiting(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	for (size_t i = 0; i < migration->n_processes; i++) {
		for (size_t j = 0; j < migration->processes[i].n && !migration->state.stopped;
		     j++) {
			if (migration->processes[i].pages[j].state != PAGE_WAITING)
				continue;
			if (refs_add(migration, refs, i, j) < 0)
				return ms_fail(err, "out of memory");
			if (refs->pages >= migration->n && run_round(migration, refs, err) < 0)
				return -1;
		}
	}
	return run_round(migration, refs, err);
}
