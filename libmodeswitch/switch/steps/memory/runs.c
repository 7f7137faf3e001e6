// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/steps/memory/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/found.h"
#include "machine/memory.h"
#include "machine/spare.h"
#include "modeswitch/job.h"

#define LARGE_PAGE (2UL << 20)
#define RUN_TRY_MS 3000

/* A search for a run, which can take seconds and so has a process of its own. */
struct run_search {
	struct switching *switching;
	uint64_t bytes;
	unsigned node;
};

static int search_run(void *context)
{
	struct run_search *search = context;
	uint64_t start;

	return search->switching->driver->lend_run(search->switching->dev, search->bytes,
						   search->node, &start);
}

static bool is_new_run(const struct switching *switching, const struct ms_lent *lent)
{
	if (lent->is_cpu || lent->is_blocks || lent->instance != MS_NO_INSTANCE)
		return false;
	for (size_t i = 0; i < switching->n_memory; i++) {
		if (switching->memory[i].start == lent->start)
			return false;
	}
	return true;
}

/* Finds the run that search_run() has lent in the ledger. */
static enum found adopt_run(struct switching *switching, uint64_t bytes, struct ms_error *err)
{
	struct ms_lent *ledger;
	enum found found = FOUND_NONE;
	size_t n;

	if (switching_ledger(switching, &ledger, &n, err) < 0)
		return FOUND_ERROR;
	for (size_t i = 0; found == FOUND_NONE && i < n; i++) {
		if (is_new_run(switching, &ledger[i]) && ledger[i].bytes == bytes)
			found = remember_memory(switching, &ledger[i], err) < 0 ? FOUND_ERROR
										: FOUND;
	}
	free(ledger);
	return found;
}

/* Tries to lend one run; *error becomes 0 or a negative errno. -1: the switch must stop. */
static int try_run(struct attempt *attempt, unsigned node, uint64_t bytes, int *error,
		   struct ms_error *err)
{
	struct run_search search = { attempt->switching, bytes, node };
	/* A search that takes long is given up: a smaller run is found faster. */
	int64_t deadline = clock_ms() + RUN_TRY_MS, latest = memory_deadline(attempt);
	enum found found;

	if (deadline > latest)
		deadline = latest;
	*error = -ENOMEM;
	if (memory_linux_can_spare() < bytes) {
		attempt->no_room = true;
		return 0;
	}
	*error = child_call(search_run, &search, sizeof(search), deadline);
	/* The search may have been killed just after it succeeded. */
	if (*error != 0 && *error != -ETIMEDOUT)
		return 0;
	found = adopt_run(attempt->switching, bytes, err);
	*error = found == FOUND ? 0 : -ENOMEM;
	return found == FOUND_ERROR ? -1 : 0;
}

int take_runs(struct attempt *attempt, unsigned node, uint64_t *left, struct ms_error *err)
{
	const struct driver *driver = attempt->switching->driver;
	uint64_t grain = driver->memory_grain ? driver->memory_grain : LARGE_PAGE;
	uint64_t bytes = memory_block_bytes();
	int error;

	/* A run of a whole block would have gone as a block. */
	if (!bytes || bytes > *left)
		bytes = *left;
	bytes = bytes / grain * grain;
	while (*left && bytes >= grain && !is_enough(attempt)) {
		if (switching_may_go_on(attempt->switching, err) < 0 ||
		    try_run(attempt, node, bytes, &error, err) < 0)
			return -1;
		if (error == 0) {
			gain(attempt, bytes, left);
			if (bytes > *left)
				bytes = *left / grain * grain;
		} else if (error == -ENOMEM) {
			bytes = bytes / 2 / grain * grain;
		} else if (error != -EINTR) {
			return ms_fail(err, "memory of NUMA node %u cannot be lent: %s", node,
				       strerror(-error));
		}
	}
	return 0;
}
