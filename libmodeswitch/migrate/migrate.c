// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run of a migration: checks, targets, cpusets, the method, and what came meanwhile.
 */
#include "migrate/migrate.h"

#include <errno.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "base/child.h"
#include "base/clock.h"
#include "migrate/adaptive.h"
#include "migrate/base/context.h"
#include "migrate/find/page_list.h"
#include "migrate/find/scan.h"
#include "migrate/find/targets.h"
#include "migrate/methods.h"
#include "migrate/place/cpusets.h"
#include "migrate/place/policies.h"
#include "migrate/request.h"
#include "migrate/rounds.h"

/* After the method it looks for new pages so many times: a program can make pages for ever. */
#define LAST_PASSES 8
/*
 * The niceness of a migration with limits. It sleeps between its calls, so the scheduler would
 * prefer it to other programs as if it were interactive.
 */
#define NICE 10
/*
 * A migration in a process of its own gets so many bytes, and one for each LIST_SHARE bytes of memory: a page
 * takes up to 70 bytes of the lists, and several processes can share it.
 */
#define LIST_BYTES (256UL << 20)
#define LIST_SHARE 16

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

/* Pages that a device or the kernel used, or that nobody could access, may be able to move now. */
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

/* Moves what has appeared since the start: processes, and pages of known processes. */
static int finish(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	int passes;

	refs->n = refs->pages = 0;
	/* A switch does not wait for programs that go on taking memory there. */
	passes = migration->every_process ? 1 : LAST_PASSES;
	for (int pass = 0; pass < passes && !migration_stopped(migration); pass++) {
		if (targets_find(migration, err) < 0 ||
		    page_list_update(migration, false, 0, err) < 0)
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

/* Adds up the bytes that have not moved, by reason. */
static void sum_up(struct migration *migration)
{
	struct ms_migrate_state *state = &migration->state;

	for (size_t i = 0; i < migration->n_processes; i++) {
		const struct migrate_process *process = &migration->processes[i];

		migration->locked += process->locked;
		for (size_t j = 0; j < process->n; j++) {
			const struct migrate_page *page = &process->pages[j];

			if (page->state >= PAGE_LEFT)
				state->left[page->state - PAGE_LEFT] += page_bytes(page);
			else if (page->state == PAGE_WAITING && process->gone && !process->locked)
				state->gone += page_bytes(page);
			else if (page->state == PAGE_WAITING)
				state->left[migration->full ? MS_LEFT_FULL : MS_LEFT_NOT_TRIED] +=
					page_bytes(page);
		}
	}
	if (migration->locked)
		migration_note(
			migration,
			"%zu processes keep their memory maps locked, and stay where they are",
			migration->locked);
	state->processes = migration->n_processes;
	migration_take_times(migration);
}

/* Leaves processes of other users out, with a note. Root may move the pages of all. */
static void leave_foreign(struct migration *migration)
{
	size_t n = 0;

	for (size_t i = 0; i < migration->n_processes && !migration->root; i++) {
		if (move_pages(migration->processes[i].pid, 0, NULL, NULL, NULL, 0) == 0)
			continue;
		n += errno == EPERM || errno == EACCES;
		migration->processes[i].gone = true;
	}
	if (n)
		migration_note(migration,
			       "%zu processes are another user's, and stay where they are", n);
}

/* A switch takes the pages by address; the method of the request is not used. */
static int vacate(struct migration *migration, struct refs *refs, struct ms_error *err)
{
	if (page_list_update(migration, false, 0, err) < 0)
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

	/* migrate_vacate() and migrate_selected() leave cpusets as they are. */
	if (!migration->every_process && !migration->selections &&
	    ((!migration->request->dry_run && cpusets_reach(migration, err) < 0) ||
	     cpusets_open(migration, err) < 0))
		return -1;
	if (migration->request->dry_run) {
		/* For this the kernel counts all pages, which takes too long in a real run. */
		policies_note(migration);
		ret = page_list_update(migration, false, 0, err);
	} else {
		ret = migration->every_process ? vacate(migration, &refs, err)
					       : run_method(migration, &refs, err);
		free(refs.all);
	}
	if (ret == 0 && migration->scan_error)
		return ms_fail(err, "the pages of the processes cannot be listed: %s",
			       strerror(migration->scan_error));
	return ret;
}

static int find_targets(struct migration *migration, struct ms_error *err)
{
	if (targets_find(migration, err) < 0)
		return -1;
	if (!migration->n_processes && migration->request->job_id)
		return ms_fail(
			err,
			"expected processes of job %u, found no cgroup of it with any on this "
			"node; name a process or a cgroup instead",
			migration->request->job_id);
	if (!migration->n_processes && !migration->selections)
		return ms_fail(err, "expected processes to migrate, found none there");
	leave_foreign(migration);
	migration->state.processes = migration->n_processes;
	return 0;
}

/*
 * Lowers the priority of a migration with limits; returns the niceness before. Only root can raise
 * the priority again, so only root's is lowered.
 */
static int be_nice(const struct migration *migration, const struct ms_migrate_request *request)
{
	int before = getpriority(PRIO_PROCESS, 0);

	if (migration->root && before < NICE && (request->cpu_percent > 0 || request->bandwidth))
		setpriority(PRIO_PROCESS, 0, NICE);
	return before;
}

static int run(struct migration *migration, struct ms_error *err)
{
	struct ms_migrate_request request = *migration->request;
	int ret = -1, nice;

	migration->request = &request;
	migration->device = -1;
	migration->root = geteuid() == 0;
	migration->start_ns = clock_ns();
	migration->cpu_start_ns = thread_cpu_ns();
	migration->state.source = "none";
	if (request_check(migration, err) < 0 ||
	    request_choose_settings(migration, &request, err) < 0)
		goto out;
	nice = be_nice(migration, &request);
	scan_open(migration);
	if (migration->n_physical && migration->device < 0)
		ms_fail(err,
			"expected lwkpart.ko, to find the pages in a range of memory, found no " LWKPART_DEVICE
			" that can be opened; load it (modprobe lwkpart)");
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
	return ret;
}

int ms_migrate(const struct ms_migrate_request *request, struct ms_migrate_state *state,
	       struct ms_error *err)
{
	struct migration migration = { .request = request };
	int ret = run(&migration, err);

	*state = migration.state;
	return ret;
}

/* A migration that a process of its own runs, in memory that both share. */
struct alone {
	struct migration migration;
	int ret;
	struct ms_error err;
};

/* The bytes of memory whose pages can be listed. */
static uint64_t bytes_of(const struct migration *migration)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < migration->n_physical; i++)
		bytes += migration->physical[i].end - migration->physical[i].start;
	for (size_t i = 0; i < migration->n_selections; i++) {
		const struct migrate_selection *selection = &migration->selections[i];

		for (size_t j = 0; j < selection->n; j++)
			bytes += selection->ranges[j].end - selection->ranges[j].start;
	}
	return bytes;
}

static int work_alone(void *context)
{
	struct alone *alone = context;
	struct rlimit files;

	/* A user can map the same pages again and again, and start many processes. */
	child_limit_memory(LIST_BYTES + bytes_of(&alone->migration) / LIST_SHARE);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	alone->ret = run(&alone->migration, &alone->err);
	return 0;
}

/*
 * A process can keep whoever looks at its memory waiting for as long as it wants: move_pages(2) waits for
 * its mmap_lock, and no signal ends that. So a child looks, without our locks.
 */
static int run_alone(const struct migration *migration, struct ms_migrate_state *state,
		     size_t *locked, struct ms_error *err)
{
	struct alone *alone = mmap(NULL, sizeof(*alone), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int outcome, ret = -1;

	if (alone == MAP_FAILED)
		return ms_fail(err, "out of memory");
	alone->migration = *migration;
	alone->migration.deadline = clock_ms() + migration->patience_ms;
	outcome = child_call_alive(work_alone, alone, -1, &alone->migration.deadline);
	if (outcome == 0) {
		ret = alone->ret;
		if (ret < 0)
			*err = alone->err;
		*locked = alone->migration.locked;
	} else if (outcome == -EINTR) {
		alone->migration.state.stopped = true;
		ret = 0;
	} else if (outcome == -ETIMEDOUT) {
		ms_fail(err,
			"expected all processes to let others look at their memory, found one that "
			"keeps them waiting for longer than %u ms",
			(unsigned)migration->patience_ms);
		ret = -ETIMEDOUT;
	} else {
		ms_fail(err, "the process that moves the memory has failed: %s",
			strerror(-outcome));
	}
	*state = alone->migration.state;
	munmap(alone, sizeof(*alone));
	return ret;
}

int migrate_vacate(const struct ms_migrate_request *request,
		   const struct migrate_vacating *vacating, unsigned patience_ms,
		   struct ms_migrate_state *state, struct ms_error *err)
{
	struct migration migration = { .request = request,
				       .physical = vacating->ranges,
				       .n_physical = vacating->n,
				       .every_process = true,
				       .patience_ms = patience_ms,
				       .found = vacating->found,
				       .found_context = vacating->context };
	size_t locked;

	return run_alone(&migration, state, &locked, err);
}

int migrate_selected(const struct ms_migrate_request *request,
		     const struct migrate_selection *selections, size_t n, unsigned patience_ms,
		     struct ms_migrate_state *state, struct ms_error *err)
{
	struct migration migration = { .request = request,
				       .selections = selections,
				       .n_selections = n,
				       .patience_ms = patience_ms };
	size_t locked = 0;
	int ret = run_alone(&migration, state, &locked, err);

	if (ret == 0 && locked) {
		ms_fail(err,
			"expected all processes to let others look at their memory, found %zu that "
			"keep their memory maps locked",
			locked);
		ret = -EBUSY;
	}
	return ret;
}
