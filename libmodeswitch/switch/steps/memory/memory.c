// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the LWK's memory from Linux: whole memory blocks as far as they go off-line, the
 * rest as contiguous runs that the driver finds, the largest first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/parse.h"
#include "base/signals.h"
#include "machine/memory.h"
#include "migrate/away_list.h"
#include "migrate/migrate.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/migrate.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"
#include "store/times.h"
#include "switch/steps/step.h"

#define LARGE_PAGE (2UL << 20)
#define RUN_TRY_MS 3000
/* What gains less than that part of a block is not worth waiting for when there is enough. */
#define CRUMB 16

/* How the taking goes. */
struct attempt {
	struct switching *switching;
	int64_t last_gain; /* clock_ms() */
	/* What could not be had, for the message. */
	unsigned stuck;	 /* blocks that did not go off-line */
	unsigned kernel; /* blocks with pages of the kernel's own */
	bool no_room;	 /* more would make Linux short of memory */
};

static uint64_t bytes_taken(const struct switching *switching)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < switching->n_memory; i++)
		bytes += switching->memory[i].bytes;
	return bytes;
}

/*
 * Until when memory is taken. Once the plan has what it must have, as long as more comes within
 * a twelfth of SwitchTimeout=, and until a quarter is left: what is more than enough must not cost
 * the job its switch.
 */
static int64_t memory_deadline(const struct attempt *attempt)
{
	const struct switching *switching = attempt->switching;
	int64_t timeout = switching->config->switch_timeout_ms, latest;

	if (bytes_taken(switching) < switching->plan->least)
		return switching->deadline;
	latest = switching->deadline - timeout / 4;
	return attempt->last_gain + timeout / 12 < latest ? attempt->last_gain + timeout / 12
							  : latest;
}

/* More is not worth the time. */
static bool is_enough(const struct attempt *attempt)
{
	return bytes_taken(attempt->switching) >= attempt->switching->plan->least &&
	       clock_ms() >= memory_deadline(attempt);
}

static void gain(struct attempt *attempt, uint64_t bytes, uint64_t *left)
{
	*left -= bytes;
	if (bytes >= memory_block_bytes() / CRUMB)
		attempt->last_gain = clock_ms();
}

static int remember(struct switching *switching, const struct ms_lent *lent, struct ms_error *err)
{
	void *more = reallocarray(switching->memory, switching->n_memory + 1,
				  sizeof(*switching->memory));

	if (!more)
		return ms_fail(err, "out of memory");
	switching->memory = more;
	switching->memory[switching->n_memory++] = *lent;
	return 0;
}

/* How the block comes back to where it was. */
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
 * Tries again as long as what is left in it becomes less: on a busy machine a full block takes
 * longer than one try. With little left in it, it is a pinned page that keeps it.
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

/* 1: taken; 0: it cannot be, try another; -1: stop. */
static int take_block(struct attempt *attempt, const struct memory_block *block, uint64_t bytes,
		      unsigned node, struct ms_error *err)
{
	struct switching *switching = attempt->switching;
	struct ms_lent lent = { .is_blocks = true,
				.instance = MS_NO_INSTANCE,
				.node = node,
				.start = block->start,
				.bytes = bytes };
	int error;

	/* Before it goes, so that also the first one is slow. */
	if (switching->config->vacate_rate &&
	    keep_to_rate(switching, memory_block_used(block), err) < 0)
		return -1;
	if (record_block(switching, block, bytes, err) < 0)
		return -1;
	if (!put_off_line(attempt, block))
		return switching_may_go_on(switching, err);
	error = switching->driver->lend_blocks(switching->dev, block->start, bytes, node);
	if (error == -EINVAL || error == -EBUSY) {
		/* Not fit for it, a broken page for example: give it back at once. */
		memory_block_return(block->index, online_word(block));
		return 0;
	}
	if (error)
		return ms_fail(err, "memory block %lu cannot be lent: %s", block->index,
			       strerror(-error));
	return remember(switching, &lent, err) < 0 ? -1 : 1;
}

/* The blocks of a node, while some are being taken. */
struct taking {
	struct attempt *attempt;
	unsigned node;
	uint64_t bytes; /* of a block */
	uint64_t *left;
	struct memory_block *blocks;
	int64_t vacate_until; /* clock_ms() */
	bool *fit;	      /* movable, and not chosen yet */
	size_t n;
};

static bool may_try(const struct taking *taking)
{
	return !taking->attempt->no_room && !is_enough(taking->attempt);
}

static int take_one(struct taking *taking, size_t i, struct ms_error *err)
{
	int ret;

	if (switching_may_go_on(taking->attempt->switching, err) < 0)
		return -1;
	if (memory_linux_can_spare() < taking->bytes) {
		taking->attempt->no_room = true;
		return 0;
	}
	ret = take_block(taking->attempt, &taking->blocks[i], taking->bytes, taking->node, err);
	if (ret == 1)
		gain(taking->attempt, taking->bytes, taking->left);
	taking->attempt->stuck += ret == 0;
	return ret < 0 ? -1 : 0;
}

/* ---- what Linux's programs have there ---- */

static int keep_found(const struct migration *migration, void *context, struct ms_error *err)
{
	const struct taking *taking = context;

	if (!taking->attempt->switching->config->rehome)
		return 0;
	return away_list_add(migration, taking->attempt->switching->job_id, taking->node, err);
}

static bool must_stop_vacating(void *context)
{
	const struct taking *taking = context;
	struct ms_error ignored;

	return switching_may_go_on(taking->attempt->switching, &ignored) < 0 || !may_try(taking) ||
	       clock_ms() >= taking->vacate_until;
}

/* Nodes that give this LWK nothing; where there are none, all but this one. */
static void choose_refuge(const struct taking *taking, hwloc_bitmap_t nodes)
{
	const struct ms_plan *plan = taking->attempt->switching->plan;
	hwloc_bitmap_t others = hwloc_bitmap_dup(nodes);

	hwloc_bitmap_clr(nodes, taking->node);
	for (size_t i = 0; others && i < plan->n_memory; i++) {
		if (plan->memory[i].bytes)
			hwloc_bitmap_clr(others, plan->memory[i].node);
	}
	if (others && !hwloc_bitmap_iszero(others))
		hwloc_bitmap_and(nodes, nodes, others);
	hwloc_bitmap_free(others);
}

/* The blocks that are marked, as few ranges as they are, by address. Returns how many. */
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
 * Moves what programs have in blocks that are about to go off-line to other nodes, within the
 * limits of lwk.conf. What is left, such as cached files that nobody maps, Linux moves when they go
 * off-line, to where it likes; so it does with everything if this fails, which is no reason to
 * refuse the job.
 */
static void vacate(struct taking *taking, const struct migrate_range *ranges, size_t n)
{
	struct switching *switching = taking->attempt->switching;
	const struct ms_config *config = switching->config;
	hwloc_bitmap_t from = hwloc_bitmap_alloc(), to = hwloc_bitmap_alloc();
	struct ms_migrate_request request = {
		.from = from,
		.to = to,
		.method = MS_PERIODICAL,
		.sleep_ms = 0,
		.cpu_percent = config->vacate_cpu < 100 ? config->vacate_cpu : 0,
		.bandwidth = config->vacate_rate,
		.stop = must_stop_vacating,
		.context = taking,
	};
	struct migrate_vacating vacating = {
		.ranges = ranges, .n = n, .found = keep_found, .context = taking
	};
	struct ms_migrate_state state = { 0 };
	struct ms_error err = { "" };

	/* Half of the time is for taking the blocks: Linux moves what programs have in them faster. */
	taking->vacate_until = clock_ms() + (switching->deadline - clock_ms()) / 2;
	times_lap(switching->times, step_memory.name);
	if (from && to && kernel_read_list(to, "/sys/devices/system/node/has_memory") == 0) {
		hwloc_bitmap_set(from, taking->node);
		choose_refuge(taking, to);
		if (!hwloc_bitmap_iszero(to) &&
		    migrate_vacate(&request, &vacating, &state, &err) == 0 &&
		    clock_ms() >= taking->vacate_until)
			ms_fail(&err, "half of the time for the switch is over");
		if (*err.text)
			syslog(LOG_DAEMON | LOG_NOTICE,
			       "slurm-lwk: job %u: memory that programs have on NUMA node %u is "
			       "left to Linux to move, without VacateCpu=: %s",
			       switching->job_id, taking->node, err.text);
	}
	switching->vacated += state.moved;
	hwloc_bitmap_free(from);
	hwloc_bitmap_free(to);
	times_lap(switching->times, "vacate");
}

/*
 * Takes blocks, in this order. All are vacated at once: to look for programs' pages takes the same
 * time for one block as for all.
 */
static int take_chosen(struct taking *taking, const size_t *chosen, size_t n, struct ms_error *err)
{
	struct migrate_range *ranges = calloc(n, sizeof(*ranges));
	bool *marked = calloc(taking->n, sizeof(*marked));
	int ret = ranges && marked ? 0 : ms_fail(err, "out of memory");

	for (size_t i = 0; ret == 0 && i < n; i++)
		marked[chosen[i]] = true;
	if (ret == 0)
		vacate(taking, ranges, ranges_of(taking, marked, ranges));
	free(ranges);
	free(marked);
	for (size_t i = 0; ret == 0 && i < n && may_try(taking); i++)
		ret = take_one(taking, chosen[i], err);
	return ret;
}

/* As many as are wanted still, if all of them can be had; in rows, the best first. */
static size_t choose_rows(const struct taking *taking, size_t *chosen)
{
	size_t wanted = *taking->left / taking->bytes, n = 0, first, count;

	while (n < wanted && (count = memory_choose_row(taking->blocks, taking->fit, taking->n,
							wanted - n, &first))) {
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

/* A run that some LWK has pins its block: off-lining would be tried in vain until time is over. */
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
 * Blocks where the kernel may have pages of its own, the likeliest to go first. Where it surely
 * has some they never go, and the kernel complains into its log at each try.
 */
static int take_others(struct taking *taking, struct ms_error *err)
{
	struct candidate *candidates = calloc(taking->n + 1, sizeof(*candidates));
	size_t *chosen = calloc(taking->n + 1, sizeof(*chosen)), n = 0, wanted;
	int ret = candidates && chosen ? 0 : ms_fail(err, "out of memory");

	for (size_t i = 0; ret == 0 && i < taking->n; i++) {
		const struct memory_block *block = &taking->blocks[i];

		if (block->movable || block->unfit || !block->online)
			continue;
		candidates[n] = (struct candidate){ i, memory_block_doubtful(block) };
		if (candidates[n].doubtful != ALL_PAGES)
			n++;
		else
			taking->attempt->kernel++;
	}
	if (n)
		qsort(candidates, n, sizeof(*candidates), compare_candidates);
	for (size_t i = 0; i < n; i++)
		chosen[i] = candidates[i].at;
	for (size_t i = 0; ret == 0 && i < n && may_try(taking); i += wanted) {
		wanted = *taking->left / taking->bytes;
		if (!wanted)
			break;
		wanted = wanted < n - i ? wanted : n - i;
		ret = take_chosen(taking, chosen + i, wanted, err);
	}
	free(candidates);
	free(chosen);
	return ret;
}

static int take_blocks(struct attempt *attempt, unsigned node, uint64_t *left, struct ms_error *err)
{
	struct taking taking = {
		.attempt = attempt, .node = node, .bytes = memory_block_bytes(), .left = left
	};
	int ret = 0;

	if (!taking.bytes || *left < taking.bytes)
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

/* A run being looked for, in a process of its own: it can take seconds. */
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

/* Finds in the ledger what search_run() has lent. 1: found; 0: there is none; -1: error. */
static int adopt_run(struct switching *switching, uint64_t bytes, struct ms_error *err)
{
	struct ms_lent *ledger;
	int ret = 0;
	size_t n;

	if (switching_ledger(switching, &ledger, &n, err) < 0)
		return -1;
	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (is_new_run(switching, &ledger[i]) && ledger[i].bytes == bytes)
			ret = remember(switching, &ledger[i], err) < 0 ? -1 : 1;
	}
	free(ledger);
	return ret;
}

/*
 * A larger run than a block would have been blocks; what does not end soon is as good as not
 * there, since the search for a smaller run is faster.
 */
static int take_runs(struct attempt *attempt, unsigned node, uint64_t *left, struct ms_error *err)
{
	struct switching *switching = attempt->switching;
	uint64_t bytes = memory_block_bytes();
	int64_t deadline, latest;
	int error;

	if (!bytes || bytes > *left)
		bytes = *left;
	while (*left && bytes >= LARGE_PAGE && !is_enough(attempt)) {
		struct run_search search = { switching, bytes, node };

		if (switching_may_go_on(switching, err) < 0)
			return -1;
		deadline = clock_ms() + RUN_TRY_MS;
		latest = memory_deadline(attempt);
		if (deadline > latest)
			deadline = latest;
		error = -ENOMEM;
		if (memory_linux_can_spare() < bytes)
			attempt->no_room = true;
		else
			error = child_call(search_run, &search, sizeof(search), deadline);
		/* It may have been killed just after it succeeded. */
		if (error == 0 || error == -ETIMEDOUT) {
			int adopted = adopt_run(switching, bytes, err);

			if (adopted < 0)
				return -1;
			error = adopted ? 0 : -ENOMEM;
		}
		if (error == 0) {
			gain(attempt, bytes, left);
			if (bytes > *left)
				bytes = *left;
		} else if (error == -ENOMEM) {
			bytes = bytes / 2 / LARGE_PAGE * LARGE_PAGE;
		} else if (error != -EINTR) {
			return ms_fail(err, "memory of NUMA node %u cannot be lent: %s", node,
				       strerror(-error));
		}
	}
	return 0;
}

static int take_from_node(struct attempt *attempt, unsigned node, uint64_t *left,
			  struct ms_error *err)
{
	if (take_blocks(attempt, node, left, err) < 0)
		return -1;
	return take_runs(attempt, node, left, err);
}

/* Says what was in the way; 'what' is how the attempt ended. */
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
		"wanted %s of memory for the LWK; found %s that Linux %s (of the memory "
		"blocks, %s each, %u did not go off-line and %u hold the kernel's own "
		"pages%s); ask for less memory (--mem, --lwk-mem), or have the administrator "
		"keep the node's memory movable with 'lwkctl prepare'",
		wanted, found, what, block, attempt->stuck, attempt->kernel,
		attempt->no_room ? "; with less memory Linux would be short" : "");
}

/*
 * First each node's share; then what some node could not give, from the nearest that could. The
 * plan has every node that may give some, in the order in which they are asked.
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

int give_back_runs(struct switching *switching, struct ms_error *err)
{
	char size[FORMAT_SIZE];
	struct ms_lent *ledger;
	int ret, error;
	size_t n;

	ret = switching_ledger(switching, &ledger, &n, err);
	for (size_t i = 0; i < n; i++) {
		if (ledger[i].is_cpu || ledger[i].is_blocks || ledger[i].instance != MS_NO_INSTANCE)
			continue;
		error = switching->driver->return_memory(switching->dev, ledger[i].start,
							 ledger[i].bytes);
		if (error && error != -ENOENT)
			ret = ms_fail(err, "memory at %#jx (%s) cannot be given back to Linux: %s",
				      (uintmax_t)ledger[i].start,
				      format_size(ledger[i].bytes, size), strerror(-error));
		else
			switching_say(switching, "memory at %#jx (%s) is back",
				      (uintmax_t)ledger[i].start,
				      format_size(ledger[i].bytes, size));
	}
	free(ledger);
	return ret;
}

/* The range in the ledger, or NULL. */
static const struct ms_lent *find_range(const struct ms_lent *ledger, size_t n, uint64_t start)
{
	for (size_t i = 0; i < n; i++) {
		if (!ledger[i].is_cpu && ledger[i].start == start)
			return &ledger[i];
	}
	return NULL;
}

static int give_back_block(struct switching *switching, struct json_object *entry,
			   const struct ms_lent *lent, struct ms_error *err)
{
	enum owner owner = lent ? switching_owner(switching, lent) : OWNER_NOBODY;
	unsigned long block = journal_number(entry, "block");
	const char *online = journal_text(entry, "online");
	int error = 0;

	if (owner == OWNER_OTHER_JOB)
		return 0;
	if (owner == OWNER_THIS_JOB)
		return ms_fail(err, "memory block %lu is still lent to LWK instance %d", block,
			       lent->instance);
	if (lent)
		error = switching->driver->return_memory(switching->dev, lent->start, lent->bytes);
	if (error && error != -ENOENT)
		return ms_fail(err, "memory block %lu cannot be given back to Linux: %s", block,
			       strerror(-error));
	if (!memory_block_is(block, "offline"))
		return 0;
	error = memory_block_return(block, online);
	if (error)
		return ms_fail(err, "memory block %lu does not come on-line (%s): %s", block,
			       online, strerror(-error));
	switching_say(switching, "memory block %lu is back (%s)", block, online);
	return 0;
}

/* An entry names one block, or none: then it is about the runs, whose addresses only the ledger knows. */
static int undo(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	struct ms_lent *ledger;
	int ret;
	size_t n;

	if (!*journal_text(entry, "block"))
		return give_back_runs(switching, err);
	if (switching_ledger(switching, &ledger, &n, err) < 0)
		return -1;
	ret = give_back_block(switching, entry,
			      find_range(ledger, n, journal_number(entry, "start")), err);
	free(ledger);
	return ret;
}

const struct step step_memory = { .name = "memory", .run = run, .undo = undo };
