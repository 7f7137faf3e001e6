// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the LWK's memory from Linux: whole memory blocks as far as they go off-line (blocks.c), and
 * the rest as contiguous runs that the driver finds (runs.c).
 */
#include <hwloc.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/signals.h"
#include "machine/memory.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"
#include "switch/steps/memory/attempt.h"
#include "switch/steps/memory/blocks.h"
#include "switch/steps/memory/give_back.h"
#include "switch/steps/memory/runs.h"
#include "switch/steps/table.h"

static int take_from_node(struct attempt *attempt, unsigned node, uint64_t *left,
			  struct ms_error *err)
{
	if (take_blocks(attempt, node, left, err) < 0)
		return -1;
	return take_runs(attempt, node, left, err);
}

/* Fails with what stood in the way; 'what' tells which memory Linux gave. */
static int fail_for_lack(const struct attempt *attempt, uint64_t missing, const char *what,
			 struct ms_error *err)
{
	char wanted[FORMAT_SIZE], found[FORMAT_SIZE], block[FORMAT_SIZE];
	uint64_t bytes = attempt->switching->plan->bytes;

	format_size(bytes, wanted);
	format_size(bytes - missing, found);
	format_size(memory_block_bytes(), block);
	return ms_fail(
		err,
		"expected %s of memory for the LWK, found %s that Linux %s (of the memory "
		"blocks, %s each, %u did not go off-line and %u hold the kernel's own "
		"pages%s); ask for less memory (--mem, --lwk-mem), or have the administrator "
		"keep the node's memory movable with 'lwkctl prepare'",
		wanted, found, what, block, attempt->stuck, attempt->kernel,
		attempt->no_room ? "; with less memory Linux would be short" : "");
}

/*
 * Takes each node's share first; then takes what some nodes could not give from the nearest nodes
 * that could. The plan has the nodes in this order. *missing: bytes that no node gave.
 */
static int take_all(struct attempt *attempt, uint64_t *missing, struct ms_error *err)
{
	const struct switching *switching = attempt->switching;
	const struct ms_plan *plan = switching->plan;
	hwloc_bitmap_t empty = hwloc_bitmap_alloc();
	int ret = empty ? 0 : ms_fail(err, "out of memory");

	for (size_t i = 0; ret == 0 && i < plan->n_memory; i++) {
		uint64_t left = plan->memory[i].bytes;

		ret = take_from_node(attempt, plan->memory[i].node, &left, err);
		if (left)
			hwloc_bitmap_set(empty, plan->memory[i].node);
	}
	*missing = plan->bytes - bytes_taken(switching);
	for (size_t i = 0; ret == 0 && *missing && i < plan->n_memory; i++) {
		if (!hwloc_bitmap_isset(empty, plan->memory[i].node))
			ret = take_from_node(attempt, plan->memory[i].node, missing, err);
	}
	*missing = plan->bytes - bytes_taken(switching);
	hwloc_bitmap_free(empty);
	return ret;
}

static int run(struct switching *switching, struct ms_error *err)
{
	struct attempt attempt = { .switching = switching, .last_gain = clock_ms() };
	uint64_t missing;

	if (take_all(&attempt, &missing, err) < 0) {
		if (missing && !signal_is_pending() && clock_ms() >= switching->deadline)
			return fail_for_lack(&attempt, missing,
					     "gave away within SwitchTimeout= (lwk.conf)", err);
		return -1;
	}
	if (switching->plan->bytes - missing >= switching->plan->least)
		return 0;
	return fail_for_lack(&attempt, missing, "can give away now", err);
}

const struct step step_memory = { .name = "memory", .run = run, .undo = give_back_memory };
