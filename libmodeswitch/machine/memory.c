// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kernel-page-flags.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"

#define MEMORY_DIR "/sys/devices/system/memory"
#define PAGE 4096UL
/* Bit of /proc/kpageflags that the kernel's user headers leave out. */
#define KPF_RESERVED 32
/*
 * A block that is not off-line after this time has a page that cannot be moved. An emulated machine
 * copies the contents of a block at 200 MB/s.
 */
#define BLOCK_TRY_MS(bytes) (2000 + 1000 * (int64_t)((bytes) / (128UL << 20)))
/* Bytes that Linux keeps in any case, on the whole machine. */
#define LINUX_KEEPS (128UL << 20)
/* Larger pages of hugetlbfs have these bytes several times. */
#define SMALLEST_HUGE_PAGE (2UL << 20)

/* Returns bytes. With less memory free, Linux reclaims memory for ever, or kills processes. */
static uint64_t own_mark(void)
{
	char text[64];

	return kernel_read(text, sizeof(text), "/proc/sys/vm/min_free_kbytes") > 0
		       ? strtoull(text, NULL, 10) << 10
		       : 0;
}

static uint64_t available(void)
{
	char text[8192];

	return kernel_read(text, sizeof(text), "/proc/meminfo") < 0
		       ? 0
		       : meminfo_bytes(text, "MemAvailable");
}

uint64_t memory_linux_can_spare(void)
{
	uint64_t keep = LINUX_KEEPS, has = available();

	if (2 * own_mark() > keep)
		keep = 2 * own_mark();
	return has > keep ? has - keep : 0;
}

/* Other programs may have taken memory since the block was begun. */
static bool linux_is_short(void)
{
	return available() < own_mark() + LINUX_KEEPS / 4;
}

static uint64_t read_hex(const char *path)
{
	char text[32];

	return kernel_read(text, sizeof(text), "%s", path) > 0 ? strtoull(text, NULL, 16) : 0;
}

uint64_t memory_block_bytes(void)
{
	return read_hex(MEMORY_DIR "/block_size_bytes");
}

bool memory_block_is(unsigned long index, const char *state)
{
	char text[32];

	return kernel_read(text, sizeof(text), MEMORY_DIR "/memory%lu/state", index) > 0 &&
	       strcmp(text, state) == 0;
}

bool memory_block_is_movable(unsigned long index)
{
	char zones[64];

	/* For an off-line block, the file lists the zones that the block could go to. */
	return memory_block_is(index, "online") &&
	       kernel_read(zones, sizeof(zones), MEMORY_DIR "/memory%lu/valid_zones", index) > 0 &&
	       strcmp(zones, "Movable") == 0;
}

/* Returns the number of NUMA nodes of a block; *there: 'node' is one of them. */
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

static bool look_at_block(unsigned long index, unsigned node, uint64_t block_bytes,
			  struct memory_block *block)
{
	char path[PATH_MAX], zones[64] = "none";
	unsigned n_nodes;
	bool there;

	n_nodes = count_nodes(index, node, &there);
	if (!there)
		return false;
	kernel_read(zones, sizeof(zones), MEMORY_DIR "/memory%lu/valid_zones", index);
	snprintf(path, sizeof(path), MEMORY_DIR "/memory%lu/phys_index", index);
	block->index = index;
	block->start = read_hex(path) * block_bytes;
	block->online = memory_block_is(index, "online");
	block->movable = memory_block_is_movable(index);
	block->unfit = n_nodes != 1 || (block->online && strcmp(zones, "none") == 0);
	return true;
}

static bool has(uint64_t flags, unsigned bit)
{
	return flags >> bit & 1;
}

/*
 * Marks blocks with pages of hugetlbfs. When such a block goes off-line, Linux keeps that many fewer
 * for good, which were reserved for somebody.
 */
static void leave_out_huge_pages(struct memory_block *blocks, size_t n)
{
	char text[8192], path[PATH_MAX];
	int fd;

	if (kernel_read(text, sizeof(text), "/proc/meminfo") < 0 || !meminfo_bytes(text, "Hugetlb"))
		return;
	snprintf(path, sizeof(path), "%s/proc/kpageflags", files_root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; fd >= 0 && i < n; i++) {
		uint64_t at = blocks[i].start, end = at + memory_block_bytes(), flags;

		for (; !blocks[i].unfit && at < end; at += SMALLEST_HUGE_PAGE)
			blocks[i].unfit = pread(fd, &flags, sizeof(flags),
						at / PAGE * sizeof(flags)) == sizeof(flags) &&
					  has(flags, KPF_HUGE);
	}
	if (fd >= 0)
		close(fd);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct memory_block *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
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
	leave_out_huge_pages(blocks, n);
	*out = blocks;
	return n;
}

int memory_block_return(unsigned long index, const char *how)
{
	return kernel_write(how, MEMORY_DIR "/memory%lu/state", index);
}

/* Runs in a child process. */
static int write_offline(void *context)
{
	return kernel_write("offline", MEMORY_DIR "/memory%lu/state", *(unsigned long *)context);
}

bool memory_block_take(unsigned long index, int64_t deadline)
{
	child_call_watched(write_offline, &index, sizeof(index), deadline, linux_is_short);
	/* The child may have been killed just after it succeeded. */
	return memory_block_is(index, "offline");
}

int64_t memory_block_deadline(void)
{
	return clock_ms() + BLOCK_TRY_MS(memory_block_bytes());
}

/* Calls count() with the flags of each page of a block, from /proc/kpageflags. */
static void for_each_page(const struct memory_block *block,
			  void (*count)(uint64_t flags, void *context), void *context)
{
	uint64_t flags[4096], end = (block->start + memory_block_bytes()) / PAGE;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/proc/kpageflags", files_root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (uint64_t page = block->start / PAGE; fd >= 0 && page < end;) {
		ssize_t got = pread(fd, flags, sizeof(flags), page * sizeof(*flags));

		if (got <= 0)
			break;
		for (size_t i = 0; i < got / sizeof(*flags) && page < end; i++, page++)
			count(flags[i], context);
	}
	if (fd >= 0)
		close(fd);
}

static void count_obstacle(uint64_t flags, void *context)
{
	static const uint64_t good =
		1ULL << KPF_BUDDY | 1ULL << KPF_LRU | 1ULL << KPF_HUGE | 1ULL << KPF_COMPOUND_TAIL;
	struct memory_obstacles *found = context;

	if (has(flags, KPF_NOPAGE))
		found->holes++;
	else if (has(flags, KPF_HWPOISON))
		found->broken++;
	else if (has(flags, KPF_RESERVED) || has(flags, KPF_OFFLINE))
		found->reserved++;
	else if (has(flags, KPF_SLAB))
		found->slab++;
	else if (has(flags, KPF_PGTABLE))
		found->page_tables++;
	else if (!(flags & good))
		found->doubtful++;
}

void memory_look_for_obstacles(const struct memory_block *block, struct memory_obstacles *found)
{
	memset(found, 0, sizeof(*found));
	for_each_page(block, count_obstacle, found);
}

unsigned long memory_block_doubtful(const struct memory_block *block)
{
	struct memory_obstacles found;

	memory_look_for_obstacles(block, &found);
	if (found.slab || found.page_tables || found.reserved || found.broken || found.holes)
		return ALL_PAGES;
	return found.doubtful;
}

/* A piece of a block, while its pages are being counted. */
struct piece {
	bool movable; /* the block is in ZONE_MOVABLE */
	uint64_t start;
	unsigned long pages, good;
	void (*hear)(uint64_t start, uint64_t bytes, void *context);
	void *context;
};

static void count_piece(uint64_t flags, void *context)
{
	struct memory_obstacles found = { 0 };
	struct piece *piece = context;

	count_obstacle(flags, &found);
	/* The kernel has no pages in ZONE_MOVABLE: doubtful ones are free ones in its caches. */
	piece->good += !(found.slab || found.page_tables || found.reserved || found.broken ||
			 found.holes || (found.doubtful && !piece->movable));
	if (++piece->pages < MEMORY_PIECE / PAGE)
		return;
	piece->hear(piece->start, piece->good * PAGE, piece->context);
	piece->start += MEMORY_PIECE;
	piece->pages = piece->good = 0;
}

void memory_block_pieces(const struct memory_block *block,
			 void (*hear)(uint64_t start, uint64_t bytes, void *context), void *context)
{
	struct piece piece = {
		.movable = block->movable, .start = block->start, .hear = hear, .context = context
	};

	for_each_page(block, count_piece, &piece);
}

static void count_free(uint64_t flags, void *context)
{
	*(uint64_t *)context += has(flags, KPF_BUDDY) ? PAGE : 0;
}

uint64_t memory_block_used(const struct memory_block *block)
{
	uint64_t free_bytes = 0, bytes = memory_block_bytes();

	for_each_page(block, count_free, &free_bytes);
	return bytes > free_bytes ? bytes - free_bytes : 0;
}

/* Runs in a child process, since a large cache takes long. Dirty pages stay. */
static int drop_file_cache(void *context)
{
	return kernel_write("1", "/proc/sys/vm/drop_caches");
}

void memory_make_room(unsigned node, uint64_t bytes, int64_t deadline)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	uint64_t total = 0, used = 0, cached = 0, free_elsewhere = 0, cached_elsewhere = 0;
	char text[8192];
	unsigned other;

	if (!nodes || kernel_read_list(nodes, "/sys/devices/system/node/has_memory") < 0)
		hwloc_bitmap_zero(nodes);
	hwloc_bitmap_foreach_begin(other, nodes) {
		uint64_t cache, room;

		if (kernel_read(text, sizeof(text), "/sys/devices/system/node/node%u/meminfo",
				other) < 0)
			continue;
		cache = meminfo_bytes(text, "Active(file)") + meminfo_bytes(text, "Inactive(file)");
		room = meminfo_bytes(text, "MemFree");
		if (other == node) {
			total = meminfo_bytes(text, "MemTotal");
			used = total - room;
			cached = cache;
		} else {
			cached_elsewhere += cache;
			free_elsewhere += room;
		}
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(nodes);
	/* The part of the node that is taken is assumed to hold its share of the cache. */
	if (bytes < total)
		cached = (double)cached * bytes / total;
	if (used > bytes)
		used = bytes;
	if (cached >= memory_block_bytes() &&
	    (cached > cached_elsewhere / 4 || used + LINUX_KEEPS > free_elsewhere))
		child_call(drop_file_cache, &node, sizeof(node), deadline);
}

size_t memory_choose_row(const struct memory_block *blocks, const bool *fit, size_t n,
			 size_t wanted, size_t *first)
{
	size_t best = 0, length = 0;

	*first = 0;
	for (size_t i = 0; i < n; i++) {
		bool ends = i + 1 == n || !fit[i + 1] || blocks[i + 1].index != blocks[i].index + 1;

		length = fit[i] ? length + 1 : 0;
		if (!length || !ends)
			continue;
		if (best < wanted ? length > best : length >= wanted && length < best) {
			best = length;
			*first = i + 1 - length;
		}
		length = 0;
	}
	return best < wanted ? best : wanted;
}
