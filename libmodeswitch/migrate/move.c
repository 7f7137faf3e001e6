// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves pages by lwkpart.ko where that can, else by move_pages(2), and finds out what became of
 * each. move_pages() itself tells little: when one page of a list cannot be moved, it stops without
 * a status for that list and for all that follow. And it does not find pages to which NUMA
 * balancing has closed access in order to notice their use.
 */
#include "migrate/move.h"

#include <errno.h>
#include <limits.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "base/clock.h"
#include "migrate/base/context.h"
#include "migrate/find/scan.h"
#include "migrate/find/targets.h"
#include "migrate/place/destinations.h"

/* A page without a status from the kernel. */
#define NOT_TOLD INT_MIN
/* A page that is being written or read just now is tried again. */
#define TRIES 3
#define MOST_TRIES 30
#define RETRY_US 1000

struct batch {
	struct migrate_page **pages; /* not settled yet */
	size_t n;
	void **addresses;
	int *nodes, *status;
};

static int batch_init(struct batch *batch, struct migrate_page **pages, size_t n)
{
	*batch = (struct batch){
		.pages = calloc(n, sizeof(*batch->pages)),
		.addresses = calloc(n, sizeof(*batch->addresses)),
		.nodes = calloc(n, sizeof(*batch->nodes)),
		.status = calloc(n, sizeof(*batch->status)),
		.n = n,
	};
	if (!batch->pages || !batch->addresses || !batch->nodes || !batch->status)
		return -1;
	memcpy(batch->pages, pages, n * sizeof(*pages));
	return 0;
}

static void batch_free(struct batch *batch)
{
	free(batch->pages);
	free(batch->addresses);
	free(batch->nodes);
	free(batch->status);
}

#define ALL_KINDS                                                                                  \
	(LWKPART_PAGE_HUGE | LWKPART_PAGE_HUGETLB | LWKPART_PAGE_FILE | LWKPART_PAGE_SHARED |      \
	 LWKPART_PAGE_KSM | LWKPART_PAGE_MLOCKED)

static void settle(struct migration *migration, struct migrate_page *page, int state)
{
	static const uint64_t flags[MS_KINDS] = {
		[MS_KIND_HUGE] = LWKPART_PAGE_HUGE, [MS_KIND_HUGETLB] = LWKPART_PAGE_HUGETLB,
		[MS_KIND_FILE] = LWKPART_PAGE_FILE, [MS_KIND_SHARED] = LWKPART_PAGE_SHARED,
		[MS_KIND_KSM] = LWKPART_PAGE_KSM,   [MS_KIND_MLOCKED] = LWKPART_PAGE_MLOCKED,
	};
	uint64_t bytes = page_bytes(page);

	page->state = state;
	if (state == PAGE_GONE)
		migration->state.gone += bytes;
	if (state != PAGE_MOVED)
		return;
	migration->state.moved += bytes;
	if (page->hot)
		migration->state.hot_moved += bytes;
	if (!(page->word & ALL_KINDS))
		return;
	for (int i = 0; i < MS_KINDS; i++) {
		if ((page->word & flags[i]) &&
		    (i != MS_KIND_HUGE || !(page->word & LWKPART_PAGE_HUGETLB)))
			migration->state.kinds[i] += bytes;
	}
}

static void settle_all(struct migration *migration, struct batch *batch, int state)
{
	for (size_t i = 0; i < batch->n; i++)
		settle(migration, batch->pages[i], state);
	batch->n = 0;
}

/*
 * Only pages that NUMA balancing has closed need it. It closes no shared pages, and to read a
 * shared page that is copied on write would copy it.
 */
static bool can_touch(const struct migrate_page *page)
{
	return (page->word & LWKPART_PAGE_HINTED) && !(page->word & LWKPART_PAGE_SHARED);
}

/* Opens pages that NUMA balancing has closed, by reading a byte of each for the process. */
static void touch(const struct migrate_process *process, const struct batch *batch)
{
	struct iovec remote[IOV_MAX], local;
	char byte[IOV_MAX];
	size_t n = 0;

	for (size_t i = 0; i < batch->n || n; i++) {
		if (i < batch->n && can_touch(batch->pages[i]))
			remote[n++] = (struct iovec){ batch->addresses[i], 1 };
		if (n < IOV_MAX && i + 1 < batch->n)
			continue;
		/*
		 * process_vm_readv() ends at a page that cannot be read: the next call begins
		 * behind it.
		 */
		for (size_t at = 0; at < n;) {
			ssize_t got;

			local = (struct iovec){ byte, n - at };
			got = process_vm_readv(process->pid, &local, 1, remote + at, n - at, 0);
			if (got < 0 && errno != EFAULT)
				return;
			at += got > 0 ? got : 0;
			at += at < n;
		}
		n = 0;
	}
}

static void choose_nodes(struct migration *migration, struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		uint64_t address = page_address(batch->pages[i]);

		batch->addresses[i] = (void *)(uintptr_t)address;
		/* Several nodes take turns, by 2 MB: a huge page stays whole. */
		batch->nodes[i] = migration->to[(address >> 21) % migration->n_to];
		batch->status[i] = NOT_TOLD;
	}
}

/* Asks for the nodes of the pages without a status. */
static void ask(const struct migrate_process *process, struct batch *batch)
{
	void **addresses = calloc(batch->n, sizeof(*addresses));
	int *status = calloc(batch->n, sizeof(*status));
	size_t n = 0;

	for (size_t i = 0; addresses && status && i < batch->n; i++) {
		if (batch->status[i] == NOT_TOLD)
			addresses[n++] = batch->addresses[i];
	}
	if (n && move_pages(process->pid, n, addresses, NULL, status, 0) == 0) {
		n = 0;
		for (size_t i = 0; i < batch->n; i++) {
			if (batch->status[i] == NOT_TOLD)
				batch->status[i] = status[n++];
		}
	}
	free(addresses);
	free(status);
}

/* The new state of a page by its status; PAGE_WAITING: worth another try. */
static int judge(struct migration *migration, const struct migrate_process *process,
		 const struct batch *batch, size_t i, bool last)
{
	int status = batch->status[i];

	if (status >= 0 && !hwloc_bitmap_isset(migration->request->from, status))
		return PAGE_MOVED;
	if (status == -EACCES && !migration->root)
		return PAGE_LEFT + MS_LEFT_SHARED;
	if (status == -EFAULT || status == -ENOENT) {
		if (!page_present(process, page_address(batch->pages[i])))
			return PAGE_GONE;
		if (status == -EFAULT)
			return PAGE_LEFT + MS_LEFT_SPECIAL;
		/* A page that was known to be closed has been touched already, in vain. */
		return batch->pages[i]->word & (LWKPART_PAGE_HINTED | LWKPART_PAGE_SHARED)
			       ? PAGE_LEFT + MS_LEFT_INACCESSIBLE
			       : PAGE_WAITING;
	}
	return last ? PAGE_LEFT + MS_LEFT_PINNED : PAGE_WAITING;
}

/* Settles the pages whose state is final; the others stay in the batch. */
static void sort_out(struct migration *migration, const struct migrate_process *process,
		     struct batch *batch, bool last)
{
	size_t open = 0;

	for (size_t i = 0; i < batch->n; i++) {
		int state = judge(migration, process, batch, i, last);

		if (state != PAGE_WAITING) {
			settle(migration, batch->pages[i], state);
			continue;
		}
		if (batch->status[i] == -ENOENT)
			batch->pages[i]->word |= LWKPART_PAGE_HINTED;
		batch->pages[open++] = batch->pages[i];
	}
	batch->n = open;
}

/*
 * The kernel refused the whole call or broke it off. 0: the pages left in the batch can be tried
 * again.
 */
static int refused(struct migration *migration, struct migrate_process *process,
		   struct batch *batch, int error, struct ms_error *err)
{
	switch (error) {
	case ESRCH:
		process->gone = true;
		settle_all(migration, batch, PAGE_GONE);
		return 0;
	case EPERM:
		process->gone = true;
		settle_all(migration, batch, PAGE_LEFT + MS_LEFT_DENIED);
		return 0;
	case ENOMEM:
		if (!(batch->pages[0]->word & LWKPART_PAGE_HUGETLB))
			return destinations_drop_fullest(migration, err);
		settle_all(migration, batch, PAGE_LEFT + MS_LEFT_HUGETLB);
		return 0;
	case EACCES:
		if (migration->every_process) {
			process->gone = true;
			settle_all(migration, batch, PAGE_LEFT + MS_LEFT_DENIED);
			return 0;
		}
		return ms_fail(
			err,
			"expected to move memory of process %d, found that its cpuset does not "
			"allow memory on these nodes; add them to its cpuset.mems",
			process->pid);
	}
	return ms_fail(err, "process %d: move_pages: %s", process->pid, strerror(error));
}

/* Takes out shared pages that have moved with another process since both were scanned. */
static void leave_moved(struct migration *migration, struct migrate_process *process,
			struct batch *batch)
{
	size_t open = 0, i;

	for (i = 0; i < batch->n; i++) {
		bool shared = batch->pages[i]->word & LWKPART_PAGE_SHARED;

		batch->addresses[i] = (void *)(uintptr_t)page_address(batch->pages[i]);
		batch->status[i] = shared ? NOT_TOLD : -ENOENT;
	}
	ask(process, batch);
	for (i = 0; i < batch->n; i++) {
		int node = batch->status[i];

		if (node < 0 || hwloc_bitmap_isset(migration->request->from, node)) {
			batch->pages[open++] = batch->pages[i];
			continue;
		}
		batch->pages[i]->state = PAGE_MOVED;
		migration->state.found -= page_bytes(batch->pages[i]);
	}
	batch->n = open;
}

/*
 * True when lwkpart.ko can move the page: it moves only private pages of 4 KB. move_pages(2) moves
 * all.
 */
static bool is_plain(const struct migrate_page *page)
{
	return !(page->word & (LWKPART_PAGE_HUGE | LWKPART_PAGE_SHARED | LWKPART_PAGE_FILE |
			       LWKPART_PAGE_KSM | LWKPART_PAGE_MLOCKED));
}

/* Lists the plain pages that go to 'node'. */
static size_t choose_plain(struct batch *batch, unsigned node, uint64_t *addresses, size_t *places)
{
	size_t n = 0;

	for (size_t i = 0; i < batch->n; i++) {
		if (batch->nodes[i] != (int)node || !is_plain(batch->pages[i]))
			continue;
		addresses[n] = (uintptr_t)batch->addresses[i];
		places[n++] = i;
	}
	return n;
}

/*
 * Moves plain pages by lwkpart.ko, which takes less time; pages that it leaves stay in the batch.
 * lwkpart.ko does not check cpusets, so move_pages(2) must have moved pages of the process before.
 */
static void move_plain(struct migration *migration, struct migrate_process *process,
		       struct batch *batch)
{
	uint64_t *addresses;
	size_t *places, open = 0;
	int *status;

	if (migration->device < 0 || !process->allowed)
		return;
	addresses = calloc(batch->n, sizeof(*addresses));
	places = calloc(batch->n, sizeof(*places));
	status = calloc(batch->n, sizeof(*status));
	choose_nodes(migration, batch);
	for (unsigned i = 0;
	     addresses && places && status && !process->locked && i < migration->n_to; i++) {
		struct lwkpart_move move = {
			.pid = process->pid,
			.node = migration->to[i],
			.addresses = (uintptr_t)addresses,
			.status = (uintptr_t)status,
			.count = choose_plain(batch, migration->to[i], addresses, places),
		};

		if (!move.count)
			continue;
		if (migration_call(migration, LWKPART_MOVE, &move) < 0) {
			if (errno != EBUSY)
				continue;
			process->gone = process->locked = true;
		}
		for (size_t j = 0; j < move.count; j++)
			batch->status[places[j]] = status[j] >= 0 ? status[j] : NOT_TOLD;
	}
	for (size_t i = 0; i < batch->n; i++) {
		if (batch->status[i] == NOT_TOLD)
			batch->pages[open++] = batch->pages[i];
		else
			settle(migration, batch->pages[i], PAGE_MOVED);
	}
	batch->n = open;
	free(addresses);
	free(places);
	free(status);
}

static bool told_any(const struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		if (batch->status[i] != NOT_TOLD)
			return true;
	}
	return false;
}

static int move_batch(struct migration *migration, struct migrate_process *process,
		      struct batch *batch, struct ms_error *err)
{
	/* Only root moves shared pages, as in the kernel's own migration. */
	int flags = migration->root ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE;
	bool broken_off;

	if (migration->n_processes > 1)
		leave_moved(migration, process, batch);
	move_plain(migration, process, batch);
	/* move_pages(2) would wait for the process. */
	if (process->locked)
		settle_all(migration, batch, PAGE_LEFT + MS_LEFT_NOT_TRIED);
	for (int try = 1; batch->n && !migration->full; try++) {
		long ret;
		int error;

		choose_nodes(migration, batch);
		touch(process, batch);
		ret = move_pages(process->pid, batch->n, batch->addresses, batch->nodes,
				 batch->status, flags);
		error = ret < 0 ? errno : 0;
		process->allowed |= ret == 0;
		/* Before a page that it cannot even isolate, the kernel moves those before it. */
		broken_off = ret > 0 && told_any(batch) && try < MOST_TRIES;
		if (ret)
			ask(process, batch);
		if (error != ESRCH && error != EPERM)
			sort_out(migration, process, batch, try >= TRIES && !error && !broken_off);
		if (error && batch->n && refused(migration, process, batch, error, err) < 0)
			return -1;
		if (batch->n && try > 1)
			usleep(RETRY_US);
	}
	return 0;
}

int pages_move(struct migration *migration, struct migrate_process *process,
	       struct migrate_page **pages, size_t n, struct ms_error *err)
{
	int64_t cpu = thread_cpu_ns();
	struct batch batch;
	uint64_t bytes = 0;
	int ret = 0;

	for (size_t i = 0; i < n; i++)
		bytes += page_bytes(pages[i]);
	if (batch_init(&batch, pages, n) < 0)
		ret = ms_fail(err, "out of memory");
	else if (target_gone(process))
		settle_all(migration, &batch,
			   process->locked ? PAGE_LEFT + MS_LEFT_NOT_TRIED : PAGE_GONE);
	else if (destinations_check_room(migration, bytes, err) < 0)
		ret = -1;
	else
		ret = move_batch(migration, process, &batch, err);
	/* The pages that are left were not tried to the end: they are where they were. */
	if (migration->full) {
		for (size_t i = 0; i < batch.n; i++)
			batch.pages[i]->state = PAGE_LEFT + MS_LEFT_FULL;
	}
	batch_free(&batch);
	migration->move_cpu += (thread_cpu_ns() - cpu) / 1e9;
	return ret;
}
