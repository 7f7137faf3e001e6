// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves memory between NUMA nodes: checks what is asked for and carries out the methods.
 *
 * Periodical, Severe and Mild are those of Urushida and Hirotsu (Improvement of Memory
 * Migration in Docker container scheduling on NUMA systems, figure 6): n pages, a sleep
 * of t ms, and so on. What that paper calls the pagelist is 'refs' here; its remlist are
 * the pages that are PAGE_WAITING. Linux seldom clears Accessed bits, so here they are
 * cleared before the walk that looks at them. Adaptive is ours.
 */
#include "migrate/context.h"

#include <errno.h>
#include <math.h>
#include <numaif.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "base/files.h"

#define DEFAULT_PAGES 5000
#define DEFAULT_SLEEP_MS 100
#define DEFAULT_CPU_PERCENT 10
/* A call that moves pages does not end before it has: so long may it take. */
#define SLICE_NS 100000000LL
#define FIRST_SLICE 512U
/* With limits, the work between two sleeps is what is due in so much time. */
#define LIMITED_SECONDS 0.1
/* The time in which use shows before the first page moves, if no sleep is given: ms. */
#define WINDOW_MS 250U
#define MIN_WINDOW_MS 4U
/* Of the CPU time for moving pages, so much more is for looking which are in use. */
#define SCAN_SHARE 0.1
/* Looks after the end for what came meanwhile; a program can make pages for ever. */
#define LAST_PASSES 8
#define HEAR_NS 200000000LL
/* Sleeping between its batches, it would go before others as if it were interactive. */
#define NICE 10
#define MAX_SCORE UINT16_MAX

/* A page of a process; not a pointer, since the list of pages moves as it grows. */
struct ref {
	uint32_t process, page;
};

struct refs {
	struct ref *all;
	size_t n, room;
	uint64_t pages; /* of 4 KB */
};

/* ---- for the other files ---- */

bool migration_stopped(struct migration *migration)
{
	const struct ms_migrate_request *request = migration->request;

	if (!migration->state.stopped && request->stop && request->stop(request->context))
		migration->state.stopped = true;
	return migration->state.stopped;
}

void migration_note(struct migration *migration, const char *format, ...)
{
	char *notes = migration->state.notes;
	size_t length = strlen(notes), room = sizeof(migration->state.notes) - length;
	va_list args;

	if (length && room > 1) {
		notes[length++] = '\n';
		notes[length] = '\0';
		room--;
	}
	va_start(args, format);
	vsnprintf(notes + length, room, format, args);
	va_end(args);
}

static void take_times(struct migration *migration)
{
	migration->state.seconds = (monotonic_ns() - migration->start_ns) / 1e9;
	migration->state.cpu_seconds = (thread_cpu_ns() - migration->cpu_start_ns) / 1e9;
}

void migration_tell(struct migration *migration)
{
	int64_t now = monotonic_ns();

	if (!migration->request->hear || now - migration->heard_ns < HEAR_NS)
		return;
	migration->heard_ns = now;
	take_times(migration);
	migration->request->hear(&migration->state, migration->request->context);
}

/* ---- what is asked for ---- */

static int check_nodes(hwloc_const_bitmap_t nodes, const char *option, struct ms_error *err)
{
	hwloc_bitmap_t there = hwloc_bitmap_alloc();
	char *asked = NULL, *found = NULL;
	int ret = 0;

	if (!nodes || hwloc_bitmap_iszero(nodes)) {
		hwloc_bitmap_free(there);
		return ms_fail(err, "wanted NUMA nodes with %s; found none", option);
	}
	if (!there || kernel_read_list(there, "/sys/devices/system/node/has_memory") < 0)
		ret = ms_fail(err, "wanted the NUMA nodes that have memory; found no "
				   "/sys/devices/system/node/has_memory; this kernel has no NUMA");
	else if (!hwloc_bitmap_isincluded(nodes, there) || hwloc_bitmap_last(nodes) >= MAX_NODES) {
		hwloc_bitmap_list_asprintf(&asked, nodes);
		hwloc_bitmap_list_asprintf(&found, there);
		ret = ms_fail(err,
			      "wanted NUMA nodes with memory on-line; found %s %s, and memory on "
			      "nodes %s only; choose among these",
			      option, asked, found);
	}
	free(asked);
	free(found);
	hwloc_bitmap_free(there);
	return ret;
}

static int check_limits(const struct ms_migrate_request *request, struct ms_error *err)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES);

	if (request->pages && (request->pages < MS_MIGRATE_MIN_PAGES || request->pages > machine))
		return ms_fail(err, "wanted from %u to %ju pages at a time; found %u",
			       MS_MIGRATE_MIN_PAGES, (uintmax_t)machine, request->pages);
	if (request->sleep_ms < -1 || request->sleep_ms > MS_MIGRATE_MAX_SLEEP_MS)
		return ms_fail(err, "wanted a sleep of 0 to %d ms; found %d",
			       MS_MIGRATE_MAX_SLEEP_MS, request->sleep_ms);
	/* Written so that NaN fails. */
	if (!(request->cpu_percent >= 0 && request->cpu_percent <= 100))
		return ms_fail(err,
			       "wanted a CPU limit above 0 and up to 100 percent of one CPU, which "
			       "is all that the migrator can use; found %g",
			       request->cpu_percent);
	return 0;
}

static int check_target(const struct ms_migrate_request *request, struct ms_error *err)
{
	if (request->pid < 0 || !request->pid + !request->job_id + !request->cgroup != 2)
		return ms_fail(err, "wanted one of: a process, a job, a cgroup; found none or "
				    "several");
	/* No pages: only the kernel's look at who we are and whether it is there. */
	if (request->pid && move_pages(request->pid, 0, NULL, NULL, NULL, 0) < 0) {
		if (errno == EPERM || errno == EACCES)
			return ms_fail(err,
				       "wanted a process of this user; found that process %d is "
				       "another's; run it as root",
				       request->pid);
		return ms_fail(err,
			       "wanted a process with memory of its own; found none with PID %d "
			       "(%m); look for it with ps(1)",
			       request->pid);
	}
	return 0;
}

static int check_request(const struct migration *migration, struct ms_error *err)
{
	const struct ms_migrate_request *request = migration->request;

	if (check_nodes(request->from, "--from", err) < 0 ||
	    check_nodes(request->to, "--to", err) < 0)
		return -1;
	if (hwloc_bitmap_intersects(request->from, request->to))
		return ms_fail(err, "wanted --from and --to without a common node; found one; "
				    "name only nodes that shall be left with --from");
	if (request->method >= MS_MIGRATE_METHODS)
		return ms_fail(err, "wanted a method; found number %d", request->method);
	if (check_limits(request, err) < 0)
		return -1;
	return migration->every_process || migration->homes ? 0 : check_target(request, err);
}

static int choose_settings(struct migration *migration, struct ms_migrate_request *request,
			   struct ms_error *err)
{
	bool limited = request->cpu_percent > 0 || request->bandwidth;
	unsigned node;

	if (request->method == MS_ADAPTIVE && !limited && !request->pages &&
	    request->sleep_ms < 0) {
		request->cpu_percent = DEFAULT_CPU_PERCENT;
		limited = true;
	}
	if (request->sleep_ms < 0)
		request->sleep_ms = limited ? 0 : DEFAULT_SLEEP_MS;
	migration->n = request->pages ? request->pages : DEFAULT_PAGES;
	migration->slice = limited ? MS_MIGRATE_MIN_PAGES : FIRST_SLICE;
	migration->to = calloc(hwloc_bitmap_weight(request->to), sizeof(*migration->to));
	if (!migration->to)
		return ms_fail(err, "out of memory");
	hwloc_bitmap_foreach_begin(node, request->to)
		migration->to[migration->n_to++] = node;
	hwloc_bitmap_foreach_end();
	throttle_init(&migration->throttle, request);
	return 0;
}

/* ---- moving ---- */

static struct migrate_page *page_of(const struct migration *migration, struct ref ref)
{
	return &migration->processes[ref.process].pages[ref.page];
}

static int refs_add(struct migration *migration, struct refs *refs, size_t process, size_t page)
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

/* So many pages as can be moved before somebody who wants to stop it gets impatient. */
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

/* The pages of one process, as many as make a slice, from refs->all[*at] on. */
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
		/* Those of hugetlbfs go alone: what fails for them says nothing of others. */
		if (n && (*weight + more > migration->slice ||
			  hugetlb != !!(page->word & LWKPART_PAGE_HUGETLB)))
			break;
		hugetlb = page->word & LWKPART_PAGE_HUGETLB;
		pages[n++] = page;
		*weight += more;
	}
	return n;
}

/* Moves what is in the list, and empties it. 0 also when it was stopped. */
static int move_refs(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	struct migrate_page **pages = calloc(refs->n + 1, sizeof(*pages));
	int ret = pages ? 0 : ms_fail(err, "out of memory");

	for (size_t at = 0; ret == 0 && at < refs->n && !migration_stopped(migration);) {
		struct migrate_process *process = &migration->processes[refs->all[at].process];
		uint64_t before = migration->state.moved, weight;
		int64_t start = monotonic_ns();
		size_t n = take_slice(migration, refs, &at, pages, &weight);

		if (!n)
			continue;
		ret = pages_move(migration, process, pages, n, err);
		adapt_slice(migration, weight, monotonic_ns() - start);
		if (ret == 0)
			throttle_wait(migration, migration->state.moved - before, 0);
	}
	free(pages);
	refs->n = 0;
	refs->pages = 0;
	return ret;
}

/* A round: moves what is in the list, then sleeps. */
static int round_of(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (!refs->n)
		return 0;
	if (move_refs(migration, refs, err) < 0)
		return -1;
	migration->state.rounds++;
	throttle_wait(migration, 0, migration->request->sleep_ms);
	return 0;
}

/* All pages that wait, n at a time, in order. */
static int move_waiting(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	for (size_t i = 0; i < migration->n_processes; i++) {
		for (size_t j = 0; j < migration->processes[i].n && !migration->state.stopped;
		     j++) {
			if (migration->processes[i].pages[j].state != PAGE_WAITING)
				continue;
			if (refs_add(migration, refs, i, j) < 0)
				return ms_fail(err, "out of memory");
			if (refs->pages >= migration->n && round_of(migration, refs, err) < 0)
				return -1;
		}
	}
	return round_of(migration, refs, err);
}

/* ---- the paper's methods ---- */

/*
 * Enters what the walk found; into 'refs' all of it, or only what is referenced. Whenever
 * there are n pages it pauses for a round; with small pages that is at the end.
 */
static int collect(struct migration *migration, size_t process, const uint64_t *words, ssize_t n,
		   bool referenced_only, struct refs *refs, struct ms_error *err)
{
	for (ssize_t i = 0; i < n; i++) {
		struct migrate_process *whose = &migration->processes[process];
		struct migrate_page *page = pages_add(migration, whose, words[i]);
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
		if (refs->pages >= migration->n && round_of(migration, refs, err) < 0)
			return -1;
	}
	return 0;
}

/* The page walk. It looks no further than a round needs, so that it knows what is in use then. */
static int walk(struct migration *migration, bool referenced_only, struct refs *refs,
		struct ms_error *err)
{
	uint64_t *words = calloc(PAGES_CHUNK, sizeof(*words));
	int ret = words ? 0 : ms_fail(err, "out of memory");

	for (size_t i = 0; i < migration->n_processes; i++) {
		uint64_t at = 0;

		while (ret == 0 && at != PAGES_END && !migration_stopped(migration)) {
			size_t room = migration->n - refs->pages;
			ssize_t n =
				pages_scan(migration, &migration->processes[i], &at, PAGES_END,
					   false, words, room < PAGES_CHUNK ? room : PAGES_CHUNK);

			ret = collect(migration, i, words, n, referenced_only, refs, err);
		}
	}
	free(words);
	migration->state.scans++;
	return ret;
}

static unsigned window_ms(const struct migration *migration)
{
	const struct ms_migrate_request *request = migration->request;
	unsigned window = request->sleep_ms / 8;

	/* With limits there is no sleep, and all takes long. */
	if (request->cpu_percent > 0 || request->bandwidth)
		return WINDOW_MS;
	window = window < WINDOW_MS ? window : WINDOW_MS;
	return window > MIN_WINDOW_MS ? window : MIN_WINDOW_MS;
}

/* The walk of Severe and Mild. */
static int walk_referenced(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (pages_clear(migration, err) < 0)
		return -1;
	throttle_wait(migration, 0, window_ms(migration));
	return walk(migration, true, refs, err);
}

static int run_periodical(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	return walk(migration, false, refs, err) < 0 ? -1 : round_of(migration, refs, err);
}

static int run_mild(struct migration *migration, struct refs *refs, struct ms_error *err)
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

static int run_severe(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (walk_referenced(migration, refs, err) < 0)
		return -1;
	while (!migration_stopped(migration)) {
		/* What the walk left of the list comes after what is found now. */
		refs->n = refs->pages = 0;
		if (pages_scan_all(migration, false, 0, err) < 0)
			return -1;
		if (choose(migration, refs, true) < 0 || choose(migration, refs, false) < 0)
			return ms_fail(err, "out of memory");
		if (!refs->n)
			break;
		if (round_of(migration, refs, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- adaptive ---- */

/* What adaptive knows. */
struct use {
	struct refs order;  /* all waiting pages, those most in use first */
	size_t at;	    /* the next of them */
	uint64_t known;	    /* pages of 4 KB from there on that were seen in use */
	double cost, looks; /* CPU seconds: of a look; of all after the first */
};

/* Orders the waiting pages. */
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

/* Looks which pages were used since the last look, and orders them anew. */
static int look(struct migration *migration, struct use *use, struct ms_error *err)
{
	int64_t now = monotonic_ns();
	unsigned since = (now - migration->scanned_ns) / 1000000;
	double cpu = thread_cpu_ns() / 1e9;

	if (pages_scan_all(migration, true, since ? since : 1, err) < 0)
		return -1;
	migration->scanned_ns = now;
	if (order_by_use(migration, use) < 0)
		return ms_fail(err, "out of memory");
	use->cost = thread_cpu_ns() / 1e9 - cpu;
	return 0;
}

/*
 * The shorter the time in which a page is seen in use, the hotter it is: so the first look comes
 * as soon as a round's worth of pages was used, or when time is up. A sample tells when that is.
 */
static int learn(struct migration *migration, struct use *use, struct ms_error *err)
{
	unsigned limit = window_ms(migration), waited = 0, window = MIN_WINDOW_MS;

	if (pages_scan_all(migration, true, 0, err) < 0)
		return -1;
	migration->scanned_ns = monotonic_ns();
	do {
		throttle_wait(migration, 0, window);
		waited += window;
		window = waited < limit - waited ? waited : limit - waited;
	} while (window && !migration_stopped(migration) && pages_sample(migration) < migration->n);
	return look(migration, use, err);
}

/*
 * Is it time to look again? Only when no full round is left of what is known to be in use, and a
 * sample shows that more is. Half of the CPU time for looks can be used up at the beginning; the
 * rest comes as pages move, for what becomes hot later.
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
	more = pages_sample(migration);
	use->looks += thread_cpu_ns() / 1e9 - cpu;
	return more >= use->known + migration->n / 4;
}

static int run_adaptive(struct migration *migration, struct refs *refs, struct ms_error *err)
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
			ret = round_of(migration, refs, err);
		throttle_heed_pressure(&migration->throttle);
		if (ret < 0 || !shall_look(migration, &use))
			continue;
		ret = look(migration, &use, err);
		use.looks += use.cost;
	}
	free(use.order.all);
	return ret;
}

/* ---- all of it ---- */

static int (*const methods[MS_MIGRATE_METHODS])(struct migration *migration, struct refs *refs,
						struct ms_error *err) = {
	[MS_PERIODICAL] = run_periodical,
	[MS_SEVERE] = run_severe,
	[MS_MILD] = run_mild,
	[MS_ADAPTIVE] = run_adaptive,
};

static size_t count_waiting(const struct migration *migration)
{
	size_t n = 0;

	for (size_t i = 0; i < migration->n_processes; i++) {
		for (size_t j = 0; j < migration->processes[i].n; j++)
			n += migration->processes[i].pages[j].state == PAGE_WAITING;
	}
	return n;
}

/* Pages that were in use by a device or the kernel, or closed, may be free to go now. */
static void try_again(struct migration *migration)
{
	for (size_t i = 0; i < migration->n_processes; i++) {
		for (size_t j = 0; j < migration->processes[i].n; j++) {
			struct migrate_page *page = &migration->processes[i].pages[j];

			if (page->state == PAGE_LEFT + MS_LEFT_PINNED ||
			    page->state == PAGE_LEFT + MS_LEFT_INACCESSIBLE)
				page->state = PAGE_WAITING;
		}
	}
}

/* What came into being meanwhile: processes, and pages of those that are known. */
static int finish(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	int passes;

	refs->n = refs->pages = 0;
	/* What others put there meanwhile is not a switch's business. */
	passes = migration->every_process ? 1 : LAST_PASSES;
	for (int pass = 0; pass < passes && !migration_stopped(migration); pass++) {
		if (targets_find(migration, err) < 0 ||
		    pages_scan_all(migration, false, 0, err) < 0)
			return -1;
		if (pass == 0)
			try_again(migration);
		if (!count_waiting(migration))
			return 0;
		if (move_waiting(migration, refs, err) < 0)
			return -1;
	}
	return 0;
}

/* Adds up what is left where it was, and why. */
static void sum_up(struct migration *migration)
{
	struct ms_migrate_state *state = &migration->state;

	for (size_t i = 0; i < migration->n_processes; i++) {
		const struct migrate_process *process = &migration->processes[i];

		for (size_t j = 0; j < process->n; j++) {
			const struct migrate_page *page = &process->pages[j];

			if (page->state >= PAGE_LEFT)
				state->left[page->state - PAGE_LEFT] += page_bytes(page);
			else if (page->state == PAGE_WAITING && process->gone)
				state->gone += page_bytes(page);
			else if (page->state == PAGE_WAITING)
				state->left[migration->full ? MS_LEFT_FULL : MS_LEFT_NOT_TRIED] +=
					page_bytes(page);
		}
	}
	state->processes = migration->n_processes;
	take_times(migration);
}

/* Takes those out that are not ours to touch, and says so. */
static void leave_foreign(struct migration *migration)
{
	size_t n = 0;

	for (size_t i = 0; i < migration->n_processes; i++) {
		if (move_pages(migration->processes[i].pid, 0, NULL, NULL, NULL, 0) == 0)
			continue;
		n += errno == EPERM || errno == EACCES;
		migration->processes[i].gone = true;
	}
	if (n)
		migration_note(migration,
			       "%zu processes are another user's, and stay where they are", n);
}

static int run_away(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (pages_scan_all(migration, false, 0, err) < 0)
		return -1;
	if (!migration->state.found)
		return 0;
	if (migration->found(migration, migration->found_context, err) < 0 ||
	    move_waiting(migration, refs, err) < 0)
		return -1;
	return finish(migration, refs, err);
}

static int run_method(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (methods[migration->request->method](migration, refs, err) < 0)
		return -1;
	return finish(migration, refs, err);
}

static int work(struct migration *migration, struct ms_error *err)
{
	struct refs refs = { 0 };
	int ret;

	/* Processes that come and go with NUMA nodes keep the cpusets that they have. */
	if (!migration->every_process && !migration->homes && cpusets_open(migration, err) < 0)
		return -1;
	if (migration->request->dry_run) {
		/* The kernel counts all pages for it, which is too much in the other case. */
		cpusets_look_at_policies(migration);
		ret = pages_scan_all(migration, false, 0, err);
	} else {
		ret = migration->every_process ? run_away(migration, &refs, err)
					       : run_method(migration, &refs, err);
		free(refs.all);
	}
	if (ret == 0 && migration->scan_error)
		return ms_fail(err,
			       "wanted the pages of the processes; found that they cannot be "
			       "listed: %s",
			       strerror(migration->scan_error));
	return ret;
}

static int find_targets(struct migration *migration, struct ms_error *err)
{
	if (targets_find(migration, err) < 0)
		return -1;
	if (!migration->n_processes && migration->request->job_id)
		return ms_fail(err,
			       "wanted processes of job %u; found no cgroup of it with any on this "
			       "node; name a process or a cgroup instead",
			       migration->request->job_id);
	if (!migration->n_processes && !migration->homes)
		return ms_fail(err, "wanted processes to migrate; found none there");
	leave_foreign(migration);
	migration->state.processes = migration->n_processes;
	return 0;
}

/*
 * One with limits lets others go before it. Returns how nice the thread was. Only root can take it
 * back, so nobody else is made nice.
 */
static int be_nice(const struct migration *migration, const struct ms_migrate_request *request)
{
	int before = getpriority(PRIO_PROCESS, 0);

	if (migration->root && before < NICE && (request->cpu_percent > 0 || request->bandwidth))
		setpriority(PRIO_PROCESS, 0, NICE);
	return before;
}

static int run(struct migration *migration, struct ms_migrate_state *state, struct ms_error *err)
{
	struct ms_migrate_request request = *migration->request;
	int ret = -1, nice;

	migration->request = &request;
	migration->device = -1;
	migration->root = geteuid() == 0;
	migration->start_ns = monotonic_ns();
	migration->cpu_start_ns = thread_cpu_ns();
	migration->state.source = "none";
	if (check_request(migration, err) < 0 || choose_settings(migration, &request, err) < 0)
		goto out;
	nice = be_nice(migration, &request);
	pages_open(migration);
	if (migration->n_physical && migration->device < 0)
		ms_fail(err, "wanted lwkpart.ko, to find what is in a range of memory; found it "
			     "not to be had; load it (modprobe lwkpart)");
	else if (find_targets(migration, err) == 0)
		ret = work(migration, err);
	migration->state.complete = ret == 0 && !migration->state.stopped && !request.dry_run;
	cpusets_close(migration, migration->state.complete);
	if (migration->device >= 0)
		close(migration->device);
	if (getpriority(PRIO_PROCESS, 0) != nice)
		setpriority(PRIO_PROCESS, 0, nice);
out:
	sum_up(migration);
	targets_free(migration);
	free(migration->to);
	*state = migration->state;
	return ret;
}

int ms_migrate(const struct ms_migrate_request *request, struct ms_migrate_state *state,
	       struct ms_error *err)
{
	struct migration migration = { .request = request };

	return run(&migration, state, err);
}

int migrate_away(const struct ms_migrate_request *request, const struct migrate_away *away,
		 struct ms_migrate_state *state, struct ms_error *err)
{
	struct migration migration = { .request = request,
				       .physical = away->ranges,
				       .n_physical = away->n,
				       .every_process = true,
				       .found = away->found,
				       .found_context = away->context };

	return run(&migration, state, err);
}

int migrate_home(const struct ms_migrate_request *request, const struct migrate_home *homes,
		 size_t n, struct ms_migrate_state *state, struct ms_error *err)
{
	struct migration migration = { .request = request, .homes = homes, .n_homes = n };

	return run(&migration, state, err);
}
