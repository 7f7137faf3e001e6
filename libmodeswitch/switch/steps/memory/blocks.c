// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/steps/memory/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "machine/memory.h"
#include "machine/obstacles.h"
#include "machine/spare.h"
#include "modeswitch/config.h"
#include "plan/row.h"
#include "switch/steps/memory/vacate.h"

/* The word that puts the block back into its zone. */
static const char *online_word(const struct memory_block *block)
{
	return block->movable ? "online_movable" : "online_kernel";
}

static int record_block(struct switching *switching, const struct memory_block *block,
			uint64_t bytes, struct ms_error *err)
{
	struct json_object *details = json_object_new_object();

	json_object_object_add(details, "block", json_object_new_int64(block->index));
	json_object_object_add(details, "start", json_object_new_uint64(block->start));
	json_object_object_add(details, "bytes", json_object_new_uint64(bytes));
	json_object_object_add(details, "online", json_object_new_string(online_word(block)));
	return journal_record(switching->journal, "memory", details, err);
}

/* Sleeps for as long as copying the bytes takes at VacateRate=. */
static int keep_to_rate(struct switching *switching, uint64_t bytes, struct ms_error *err)
{
	uint64_t rate = switching->config->vacate_rate;
	int64_t until;

	if (!rate)
		return 0;
	until = clock_ms() + (int64_t)((double)bytes * 1000 / rate);
	while (clock_ms() < until) {
		if (switching_may_go_on(switching, err) < 0)
			return -1;
		usleep(20000);
	}
	return 0;
}

/*
 * Tries again as long as the block gets emptier: on a busy machine a full block takes longer than
 * one try. A block that is nearly empty and stays on-line has a pinned page.
 */
static bool put_off_line(const struct attempt *attempt, const struct memory_block *block)
{
	uint64_t used, before = UINT64_MAX;
	int64_t deadline, latest;

	for (;;) {
		deadline = memory_block_deadline();
		latest = memory_deadline(attempt);
		if (memory_block_take(block->index, deadline < latest ? deadline : latest))
			return true;
		if (!block->movable || signal_is_pending() || clock_ms() < deadline ||
		    clock_ms() >= latest)
			return false;
		used = memory_block_used(block);
		if (used < memory_block_bytes() / CRUMB || used >= before)
			return false;
		before = used;
	}
}

/* The result of taking one block. */
enum block_result {
	BLOCK_TAKEN,
	BLOCK_KEPT, /* Linux keeps the block; another one may go */
	BLOCK_STOP, /* an error, which ends the taking */
};

static enum block_result take_block(struct attempt *attempt, const struct memory_block *block,
				    uint64_t bytes, unsigned node, struct ms_error *err)
{
	struct switching *switching = attempt->switching;
	struct ms_lent lent = { .is_blocks = true,
				.instance = MS_NO_INSTANCE,
				.node = node,
				.start = block->start,
				.bytes = bytes };
	int error;

	/* The pause comes before the block goes, so that the first block keeps to the rate, too. */
	if (switching->config->vacate_rate &&
	    keep_to_rate(switching, memory_block_used(block), err) < 0)
		return BLOCK_STOP;
	if (record_block(switching, block, bytes, err) < 0)
		return BLOCK_STOP;
	if (!put_off_line(attempt, block))
		return switching_may_go_on(switching, err) < 0 ? BLOCK_STOP : BLOCK_KEPT;
	error = switching->driver->lend_blocks(switching->dev, block->start, bytes, node);
	if (error == -EINVAL || error == -EBUSY) {
		/* The block cannot be lent, because a page is broken for example. */
		memory_block_return(block->index, online_word(block));
		return BLOCK_KEPT;
	}
	if (error) {
		ms_fail(err, "memory block %lu cannot be lent: %s", block->index, strerror(-error));
		return BLOCK_STOP;
	}
	return remember_memory(switching, &lent, err) < 0 ? BLOCK_STOP : BLOCK_TAKEN;
}

/* The blocks of a node, while some are being taken. */
struct taking {
	struct attempt *attempt;
	unsigned node;
	uint64_t bytes; /* of a block */
	uint64_t *left;
	struct memory_block *blocks;
	bool *fit; /* may be chosen, and is not yet */
	size_t n;
};

static bool may_try(const struct taking *taking)
{
	return !taking->attempt->no_room && !is_enough(taking->attempt);
}

static int take_one(struct taking *taking, size_t i, struct ms_error *err)
{
	enum block_result result;

	if (switching_may_go_on(taking->attempt->switching, err) < 0)
		return -1;
	if (memory_linux_can_spare() < taking->bytes) {
		taking->attempt->no_room = true;
		return 0;
	}
	result = take_block(taking->attempt, &taking->blocks[i], taking->bytes, taking->node, err);
	if (result == BLOCK_TAKEN)
		gain(taking->attempt, taking->bytes, taking->left);
	taking->attempt->stuck += result == BLOCK_KEPT;
	return result == BLOCK_STOP ? -1 : 0;
}

/* Makes ranges, sorted by address, of the marked blocks. Returns how many. */
static size_t ranges_of(const struct taking *taking, const bool *marked,
			struct migrate_range *ranges)
{
	size_t n = 0;

	for (size_t i = 0; i < taking->n; i++) {
		uint64_t start = taking->blocks[i].start;

		if (!marked[i])
			continue;
		if (!n || ranges[n - 1].end != start)
			ranges[n++] = (struct migrate_range){ start, start };
		ranges[n - 1].end = start + taking->bytes;
	}
	return n;
}

/*
 * Takes the chosen blocks in their order. All are vacated at once, because a search for programs'
 * pages takes as long for one block as for all.
 */
static int take_chosen(struct taking *taking, const size_t *chosen, size_t n, struct ms_error *err)
{
	struct migrate_range *ranges = calloc(n, sizeof(*ranges));
	bool *marked = calloc(taking->n, sizeof(*marked));
	int ret = ranges && marked ? 0 : ms_fail(err, "out of memory");

	for (size_t i = 0; ret == 0 && i < n; i++)
		marked[chosen[i]] = true;
	if (ret == 0)
		vacate(taking->attempt, taking->node, ranges, ranges_of(taking, marked, ranges));
	free(ranges);
	free(marked);
	for (size_t i = 0; ret == 0 && i < n && may_try(taking); i++)
		ret = take_one(taking, chosen[i], err);
	return ret;
}

/* Chooses as many fit blocks as are still wanted, in rows, the best first. Returns how many. */
static size_t choose_rows(const struct taking *taking, size_t *chosen)
{
	size_t wanted = *taking->left / taking->bytes, n = 0, first, count;

	while (n < wanted &&
	       (count = row_choose(taking->blocks, taking->fit, taking->n, wanted - n, &first))) {
		for (; count; count--, first++) {
			taking->fit[first] = false;
			chosen[n++] = first;
		}
	}
	return n;
}

static int take_rows(struct taking *taking, struct ms_error *err)
{
	size_t *chosen = calloc(taking->n + 1, sizeof(*chosen)), n;
	int ret = chosen ? 0 : ms_fail(err, "out of memory");

	while (ret == 0 && may_try(taking) && (n = choose_rows(taking, chosen)))
		ret = take_chosen(taking, chosen, n, err);
	free(chosen);
	return ret;
}

/* A run that some LWK has pins its block, which would be tried in vain until time is over. */
static int leave_out_lent(struct taking *taking, struct ms_error *err)
{
	struct ms_lent *ledger;
	size_t n;

	if (switching_ledger(taking->attempt->switching, &ledger, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < taking->n; i++) {
		struct memory_block *block = &taking->blocks[i];

		for (size_t j = 0; j < n; j++)
			block->unfit |= !ledger[j].is_cpu &&
					ledger[j].start < block->start + taking->bytes &&
					block->start < ledger[j].start + ledger[j].bytes;
	}
	free(ledger);
	return 0;
}

static int take_movable(struct taking *taking, struct ms_error *err)
{
	for (size_t i = 0; i < taking->n; i++)
		taking->fit[i] = taking->blocks[i].movable && !taking->blocks[i].unfit;
	return take_rows(taking, err);
}

struct candidate {
	size_t at;
	unsigned long doubtful;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->doubtful != y->doubtful)
		return x->doubtful < y->doubtful ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * Finds fit blocks that may go, by address, until as many as are wanted have no doubtful page: to look
 * at a block takes a system call for each 16 MB of it. Returns how many it found.
 */
static size_t find_candidates(struct taking *taking, size_t wanted, struct candidate *candidates)
{
	size_t n = 0, clean = 0;

	for (size_t i = 0; i < taking->n && clean < wanted; i++) {
		unsigned long doubtful;

		if (!taking->fit[i])
			continue;
		doubtful = memory_block_doubtful(&taking->blocks[i]);
		if (doubtful == ALL_PAGES) {
			taking->fit[i] = false;
			taking->attempt->kernel++;
			continue;
		}
		candidates[n++] = (struct candidate){ i, doubtful };
		clean += !doubtful;
	}
	return n;
}

/*
 * Chooses as many fit blocks as are still wanted, the likeliest to go first. Returns how many;
 * 'candidates' has room for all blocks.
 */
static size_t choose_others(struct taking *taking, struct candidate *candidates, size_t *chosen)
{
	size_t wanted = *taking->left / taking->bytes;
	size_t n = find_candidates(taking, wanted, candidates);

	if (n)
		qsort(candidates, n, sizeof(*candidates), compare_candidates);
	n = n < wanted ? n : wanted;
	for (size_t i = 0; i < n; i++) {
		chosen[i] = candidates[i].at;
		taking->fit[chosen[i]] = false;
	}
	return n;
}

/*
 * Takes blocks where the kernel may have pages of its own. A block that surely has some is left
 * alone: it never goes, and the kernel logs each try.
 */
static int take_others(struct taking *taking, struct ms_error *err)
{
	struct candidate *candidates = calloc(taking->n + 1, sizeof(*candidates));
	size_t *chosen = calloc(taking->n + 1, sizeof(*chosen)), n;
	int ret = candidates && chosen ? 0 : ms_fail(err, "out of memory");

	for (size_t i = 0; i < taking->n; i++) {
		const struct memory_block *block = &taking->blocks[i];

		taking->fit[i] = !block->movable && !block->unfit && block->online;
	}
	while (ret == 0 && may_try(taking) && (n = choose_others(taking, candidates, chosen)))
		ret = take_chosen(taking, chosen, n, err);
	free(candidates);
	free(chosen);
	return ret;
}

int take_blocks(struct attempt *attempt, unsigned node, uint64_t *left, struct ms_error *err)
{
	struct taking taking = {
		.attempt = attempt, .node = node, .bytes = memory_block_bytes(), .left = left
	};
	int ret = 0;

	if (!taking.bytes || *left < taking.bytes || !attempt->switching->driver->lend_blocks)
		return 0;
	taking.n = memory_blocks(node, &taking.blocks);
	taking.fit = calloc(taking.n + 1, sizeof(*taking.fit));
	if (!taking.fit)
		ret = ms_fail(err, "out of memory");
	if (ret == 0)
		ret = leave_out_lent(&taking, err);
	if (ret == 0) {
		memory_make_room(node, *left, memory_deadline(attempt));
		ret = take_movable(&taking, err);
	}
	if (ret == 0 && *left >= taking.bytes && may_try(&taking))
		ret = take_others(&taking, err);
	free(taking.fit);
	free(taking.blocks);
	return ret;
}
