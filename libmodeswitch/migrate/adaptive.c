// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/adaptive.h"

#include <stdlib.h>

#include "base/clock.h"
#include "migrate/base/context.h"
#include "migrate/base/throttle.h"
#include "migrate/find/page_list.h"
#include "migrate/request.h"

#define MAX_SCORE UINT16_MAX
/* CPU time for looks at use, as a share of the CPU time for moving pages. */
#define SCAN_SHARE 0.1

struct use {
	struct refs order; /* all waiting pages, those most in use first */
	size_t at;	   /* the next page of these to move */
	uint64_t known;	   /* pages of 4 KB from there on that were seen in use */
	double cost;	   /* CPU seconds of the last look */
	double looks;	   /* CPU seconds of all looks after the first */
};

/* Sorts the waiting pages by score, by counting. 0, or -1 without memory. */
static int order_by_use(struct migration *migration, struct use *use)
{
	size_t *place = calloc(MAX_SCORE + 2, sizeof(*place)), n = 0;
	struct refs *order = &use->order;

	if (!place)
		return -1;
	use->known = use->at = 0;
	for (size_t i = 0; i < migration->n_processes; i++) {
		for (size_t j = 0; j < migration->processes[i].n; j++) {
			const struct migrate_page *page = &migration->processes[i].pages[j];

			if (page->state != PAGE_WAITING)
				continue;
			place[MAX_SCORE - page->score + 1]++;
			use->known += page->score ? page_bytes(page) / PAGE_BYTES : 0;
			n++;
		}
	}
	for (unsigned i = 1; i <= MAX_SCORE; i++)
		place[i] += place[i - 1];
	free(order->all);
	*order = (struct refs){ .all = calloc(n + 1, sizeof(*order->all)), .n = n, .room = n };
	for (size_t i = 0; order->all && i < migration->n_processes; i++) {
		for (size_t j = 0; j < migration->processes[i].n; j++) {
			const struct migrate_page *page = &migration->processes[i].pages[j];

			if (page->state == PAGE_WAITING)
				order->all[place[MAX_SCORE - page->score]++] = (struct ref){ i, j };
		}
	}
	free(place);
	return order->all ? 0 : -1;
}

/* Looks which pages were used since the last look, and sorts the waiting pages again. */
static int look(struct migration *migration, struct use *use, struct ms_error *err)
{
	int64_t now = clock_ns();
	unsigned since = (now - migration->scanned_ns) / 1000000;
	double cpu = thread_cpu_ns() / 1e9;

	if (page_list_update(migration, true, since ? since : 1, err) < 0)
		return -1;
	migration->scanned_ns = now;
	if (order_by_use(migration, use) < 0)
		return ms_fail(err, "out of memory");
	use->cost = thread_cpu_ns() / 1e9 - cpu;
	return 0;
}

/*
 * A page is the hotter, the shorter the time in which it is seen in use. So the first look comes as
 * soon as a sample shows that a round's worth of pages was used, or when the window is over.
 */
static int learn(struct migration *migration, struct use *use, struct ms_error *err)
{
	unsigned limit = request_use_window_ms(migration->request), waited = 0,
		 window = MIN_USE_WINDOW_MS;

	if (page_list_update(migration, true, 0, err) < 0)
		return -1;
	migration->scanned_ns = clock_ns();
	do {
		throttle_wait(migration, 0, window);
		waited += window;
		window = waited < limit - waited ? waited : limit - waited;
	} while (window && !migration_stopped(migration) &&
		 page_list_sample(migration) < migration->n);
	return look(migration, use, err);
}

/*
 * True when the migration looks again: less than a full round is known to be in use, and a sample
 * shows that more is. Half of the CPU time for looks can be used from the beginning; the other half
 * becomes available as pages move, for pages that become hot later.
 */
static bool shall_look(struct migration *migration, struct use *use)
{
	const struct ms_migrate_state *state = &migration->state;
	double whole, cpu;
	uint64_t more;

	if (use->known >= migration->n || use->at == use->order.n || !state->moved)
		return false;
	whole = migration->move_cpu / state->moved * state->found;
	if (use->looks + use->cost > SCAN_SHARE * (whole + migration->move_cpu) / 2)
		return false;
	cpu = thread_cpu_ns() / 1e9;
	more = page_list_sample(migration);
	use->looks += thread_cpu_ns() / 1e9 - cpu;
	return more >= use->known + migration->n / 4;
}

int run_adaptive(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	struct use use = { 0 };
	int ret = learn(migration, &use, err);

	while (ret == 0 && use.at < use.order.n && !migration_stopped(migration)) {
		for (; ret == 0 && use.at < use.order.n && refs->pages < migration->n; use.at++)
			ret = refs_add(migration, refs, use.order.all[use.at].process,
				       use.order.all[use.at].page);
		use.known -= refs->pages < use.known ? refs->pages : use.known;
		if (ret < 0)
			ms_fail(err, "out of memory");
		else
			ret = run_round(migration, refs, err);
		throttle_heed_pressure(&migration->throttle);
		if (ret < 0 || !shall_look(migration, &use))
			continue;
		ret = look(migration, &use, err);
		use.looks += use.cost;
	}
	free(use.order.all);
	return ret;
}
