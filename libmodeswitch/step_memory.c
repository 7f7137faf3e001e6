// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the LWK's memory from Linux: whole memory blocks as far as they go off-line, the
 * rest as contiguous runs that the driver finds, the largest first.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kernel-page-flags.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "memory.h"
#include "parse.h"
#include "process.h"
#include "steps.h"

#define MEMORY_DIR "/sys/devices/system/memory"
#define PAGE 4096UL
/* Not among the kernel's headers for user space, though it is a file for it. */
#define KPF_RESERVED 32
#define LARGE_PAGE (2UL << 20)
/*
 * A block of so many bytes that is not off-line by then has a page that never will be. What it
 * holds must be copied elsewhere, and an emulated machine does that at 200 MB/s.
 */
#define BLOCK_TRY_MS(bytes) (2000 + 1000 * (int64_t)((bytes) / (128UL << 20)))
#define RUN_TRY_MS 3000
/* What Linux keeps in any case, on the whole machine. */
#define LINUX_KEEPS (128UL << 20)

uint64_t memory_linux_can_spare(void)
{
	char text[8192];
	uint64_t keep = LINUX_KEEPS, available;

	/* Below its own mark Linux would reclaim for ever, or kill. */
	if (kernel_read(text, sizeof(text), "/proc/sys/vm/min_free_kbytes") > 0 &&
	    2 * (strtoull(text, NULL, 10) << 10) > keep)
		keep = 2 * (strtoull(text, NULL, 10) << 10);
	if (kernel_read(text, sizeof(text), "/proc/meminfo") < 0)
		return 0;
	available = meminfo_bytes(text, "MemAvailable");
	return available > keep ? available - keep : 0;
}

static uint64_t read_hex(const char *path)
{
	char text[32];

	return kernel_read(text, sizeof(text), "%s", path) > 0 ? strtoull(text, NULL, 16) : 0;
}

static bool in_state(unsigned long block, const char *state)
{
	char text[32];

	return kernel_read(text, sizeof(text), MEMORY_DIR "/memory%lu/state", block) > 0 &&
	       strncmp(text, state, strlen(state)) == 0;
}

/* How many NUMA nodes the block is on; whether 'node' is one of them. */
static unsigned count_nodes(unsigned long block, unsigned node, bool *there)
{
	char path[PATH_MAX], wanted[32];
	struct dirent *entry;
	unsigned n = 0;
	DIR *dir;

	*there = false;
	snprintf(path, sizeof(path), "%s" MEMORY_DIR "/memory%lu", files_root, block);
	snprintf(wanted, sizeof(wanted), "node%u", node);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		unsigned number;

		if (sscanf(entry->d_name, "node%u", &number) != 1)
			continue;
		n++;
		if (strcmp(entry->d_name, wanted) == 0)
			*there = true;
	}
	if (dir)
		closedir(dir);
	return n;
}

/*
 * Looks at each page of a block, as far as user space can. A block that has a page of the
 * kernel's own never goes off-line, and the kernel complains into its log at each try.
 */
static unsigned long count_doubtful(uint64_t start, uint64_t bytes)
{
	static const uint64_t fixed = 1ULL << KPF_SLAB | 1ULL << KPF_RESERVED |
				      1ULL << KPF_PGTABLE | 1ULL << KPF_NOPAGE |
				      1ULL << KPF_HWPOISON | 1ULL << KPF_OFFLINE;
	static const uint64_t good =
		1ULL << KPF_BUDDY | 1ULL << KPF_LRU | 1ULL << KPF_HUGE | 1ULL << KPF_COMPOUND_TAIL;
	uint64_t flags[4096];
	unsigned long doubtful = 0;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/proc/kpageflags", files_root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (uint64_t page = start / PAGE; fd >= 0 && page < (start + bytes) / PAGE;) {
		ssize_t got = pread(fd, flags, sizeof(flags), page * sizeof(*flags));

		if (got <= 0)
			break;
		for (size_t i = 0; i < got / sizeof(*flags); i++, page++) {
			if (flags[i] & fixed)
				doubtful = ALL_PAGES;
			else if (doubtful != ALL_PAGES && !(flags[i] & good))
				doubtful++;
		}
		if (doubtful == ALL_PAGES)
			break;
	}
	if (fd >= 0)
		close(fd);
	return doubtful;
}

/* Fills in a block that could be taken: on-line, in one zone, and wholly on the node. */
static bool look_at_block(unsigned long index, unsigned node, uint64_t block_bytes,
			  struct memory_block *block)
{
	char path[PATH_MAX], zones[64];
	bool there;

	if (!in_state(index, "online") || count_nodes(index, node, &there) != 1 || !there)
		return false;
	if (kernel_read(zones, sizeof(zones), MEMORY_DIR "/memory%lu/valid_zones", index) <= 0 ||
	    strcmp(zones, "none") == 0)
		return false;
	snprintf(path, sizeof(path), MEMORY_DIR "/memory%lu/phys_index", index);
	block->index = index;
	block->start = read_hex(path) * block_bytes;
	block->movable = strcmp(zones, "Movable") == 0;
	/* The kernel keeps its own pages out of ZONE_MOVABLE; large machines have many blocks. */
	block->doubtful = block->movable ? 0 : count_doubtful(block->start, block_bytes);
	return true;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct memory_block *x = a, *y = b;

	if (x->movable != y->movable)
		return x->movable ? -1 : 1;
	if (x->doubtful != y->doubtful)
		return x->doubtful < y->doubtful ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

uint64_t memory_block_bytes(void)
{
	return read_hex(MEMORY_DIR "/block_size_bytes");
}

size_t memory_blocks(unsigned node, struct memory_block **out)
{
	uint64_t block_bytes = memory_block_bytes();
	struct memory_block *blocks = NULL, block;
	struct dirent *entry;
	char path[PATH_MAX];
	unsigned long index;
	size_t n = 0;
	DIR *dir;

	*out = NULL;
	if (!block_bytes)
		return 0;
	snprintf(path, sizeof(path), "%s" MEMORY_DIR, files_root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		void *more;

		if (sscanf(entry->d_name, "memory%lu", &index) != 1 ||
		    !look_at_block(index, node, block_bytes, &block))
			continue;
		more = reallocarray(blocks, n + 1, sizeof(*blocks));
		if (!more)
			break;
		blocks = more;
		blocks[n++] = block;
	}
	if (dir)
		closedir(dir);
	if (n)
		qsort(blocks, n, sizeof(*blocks), compare_blocks);
	*out = blocks;
	return n;
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

/* In a process of its own. */
static int write_offline(void *context)
{
	return kernel_write("offline", MEMORY_DIR "/memory%lu/state", *(unsigned long *)context);
}

static int record_block(struct switching *switching, const struct memory_block *block,
			uint64_t bytes, struct ms_error *err)
{
	struct json_object *details = json_object_new_object();

	json_object_object_add(details, "block", json_object_new_int64(block->index));
	json_object_object_add(details, "start", json_object_new_uint64(block->start));
	json_object_object_add(details, "bytes", json_object_new_uint64(bytes));
	json_object_object_add(
		details, "online",
		json_object_new_string(block->movable ? "online_movable" : "online_kernel"));
	return journal_record(switching->journal, "memory", details, err);
}

/* 1: taken; 0: it cannot be, try another; -1: stop. */
static int take_block(struct switching *switching, struct memory_block *block, uint64_t bytes,
		      unsigned node, struct ms_error *err)
{
	struct ms_lent lent = { .is_blocks = true,
				.instance = MS_NO_INSTANCE,
				.node = node,
				.start = block->start,
				.bytes = bytes };
	int64_t deadline = clock_ms() + BLOCK_TRY_MS(bytes);
	int error;

	if (record_block(switching, block, bytes, err) < 0)
		return -1;
	if (deadline > switching->deadline)
		deadline = switching->deadline;
	process_call(write_offline, &block->index, sizeof(block->index), deadline);
	/* Whatever it told: it may have been killed just after it succeeded. */
	if (!in_state(block->index, "offline"))
		return switching_may_go_on(switching, err);
	error = switching->driver->lend_blocks(switching->dev, block->start, bytes, node);
	if (error == -EINVAL || error == -EBUSY) {
		/* Not fit for it, a broken page for example: give it back at once. */
		kernel_write(block->movable ? "online_movable" : "online_kernel",
			     MEMORY_DIR "/memory%lu/state", block->index);
		return 0;
	}
	if (error)
		return ms_fail(err, "memory block %lu cannot be lent: %s", block->index,
			       strerror(-error));
	return remember(switching, &lent, err) < 0 ? -1 : 1;
}

static int take_blocks(struct switching *switching, unsigned node, uint64_t *left,
		       struct ms_error *err)
{
	uint64_t bytes = memory_block_bytes();
	struct memory_block *blocks = NULL;
	size_t n = *left >= bytes ? memory_blocks(node, &blocks) : 0;
	int ret = 0;

	for (size_t i = 0; i < n && *left >= bytes && ret >= 0; i++) {
		if (blocks[i].doubtful == ALL_PAGES)
			continue;
		if (switching_may_go_on(switching, err) < 0)
			ret = -1;
		else if (memory_linux_can_spare() < bytes)
			break;
		else
			ret = take_block(switching, &blocks[i], bytes, node, err);
		if (ret == 1)
			*left -= bytes;
	}
	free(blocks);
	return ret < 0 ? -1 : 0;
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
static int take_runs(struct switching *switching, unsigned node, uint64_t *left,
		     struct ms_error *err)
{
	uint64_t bytes = memory_block_bytes();
	int64_t deadline;
	int error;

	if (!bytes || bytes > *left)
		bytes = *left;
	while (*left && bytes >= LARGE_PAGE) {
		struct run_search search = { switching, bytes, node };

		if (switching_may_go_on(switching, err) < 0)
			return -1;
		deadline = clock_ms() + RUN_TRY_MS;
		if (deadline > switching->deadline)
			deadline = switching->deadline;
		error = -ENOMEM;
		if (memory_linux_can_spare() >= bytes)
			error = process_call(search_run, &search, sizeof(search), deadline);
		/* It may have been killed just after it succeeded. */
		if (error == 0 || error == -ETIMEDOUT) {
			int adopted = adopt_run(switching, bytes, err);

			if (adopted < 0)
				return -1;
			error = adopted ? 0 : -ENOMEM;
		}
		if (error == 0) {
			*left -= bytes;
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

static int take_from_node(struct switching *switching, unsigned node, uint64_t *left,
			  struct ms_error *err)
{
	if (take_blocks(switching, node, left, err) < 0)
		return -1;
	return take_runs(switching, node, left, err);
}

/*
 * First each node's share; then what some node could not give, from the nearest that could. The
 * plan has every node that may give some, in the order in which they are asked.
 */
static int run(struct switching *switching, struct ms_error *err)
{
	const struct ms_plan *plan = switching->plan;
	char wanted[FORMAT_SIZE], found[FORMAT_SIZE];
	hwloc_bitmap_t empty = hwloc_bitmap_alloc();
	uint64_t missing = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < plan->n_memory; i++) {
		uint64_t left = plan->memory[i].bytes;

		ret = take_from_node(switching, plan->memory[i].node, &left, err);
		if (left)
			hwloc_bitmap_set(empty, plan->memory[i].node);
		missing += left;
	}
	for (size_t i = 0; ret == 0 && missing && i < plan->n_memory; i++) {
		if (!hwloc_bitmap_isset(empty, plan->memory[i].node))
			ret = take_from_node(switching, plan->memory[i].node, &missing, err);
	}
	hwloc_bitmap_free(empty);
	if (ret < 0 || plan->bytes - missing >= plan->least)
		return ret;
	return ms_fail(
		err,
		"wanted %s of memory for the LWK; found %s that Linux can give away now; ask "
		"for less memory (--mem), or have the administrator make more of the node's "
		"memory movable ('lwkctl check')",
		format_size(plan->bytes, wanted), format_size(plan->bytes - missing, found));
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
	if (!in_state(block, "offline"))
		return 0;
	error = kernel_write(online, MEMORY_DIR "/memory%lu/state", block);
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
