// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/obstacles.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/kernel-page-flags.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"

#define PAGE 4096UL
/* Bit of /proc/kpageflags that the kernel's user headers leave out. */
#define KPF_RESERVED 32

static bool has(uint64_t flags, unsigned bit)
{
	return flags >> bit & 1;
}

/* Calls look() with the flags of each page of a block, from /proc/kpageflags, until it returns false. */
static void for_each_page(const struct memory_block *block,
			  bool (*look)(uint64_t flags, void *context), void *context)
{
	uint64_t flags[4096], end = (block->start + memory_block_bytes()) / PAGE;
	char path[PATH_MAX];
	bool more;
	int fd;

	snprintf(path, sizeof(path), "%s/proc/kpageflags", files_root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	more = fd >= 0;
	for (uint64_t page = block->start / PAGE; more && page < end;) {
		ssize_t got = pread(fd, flags, sizeof(flags), page * sizeof(*flags));

		if (got <= 0)
			break;
		for (size_t i = 0; more && i < got / sizeof(*flags) && page < end; i++, page++)
			more = look(flags[i], context);
	}
	if (fd >= 0)
		close(fd);
}

static void count_obstacle(uint64_t flags, struct memory_obstacles *found)
{
	static const uint64_t good =
		1ULL << KPF_BUDDY | 1ULL << KPF_LRU | 1ULL << KPF_HUGE | 1ULL << KPF_COMPOUND_TAIL;

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

/* Tells whether there are pages that surely keep Linux from putting their block off-line. */
static bool never_goes(const struct memory_obstacles *found)
{
	return found->slab || found->page_tables || found->reserved || found->broken ||
	       found->holes;
}

static bool look_at_all(uint64_t flags, void *context)
{
	count_obstacle(flags, context);
	return true;
}

static bool look_until_sure(uint64_t flags, void *context)
{
	count_obstacle(flags, context);
	return !never_goes(context);
}

void memory_look_for_obstacles(const struct memory_block *block, struct memory_obstacles *found)
{
	memset(found, 0, sizeof(*found));
	for_each_page(block, look_at_all, found);
}

unsigned long memory_block_doubtful(const struct memory_block *block)
{
	struct memory_obstacles found = { 0 };

	for_each_page(block, look_until_sure, &found);
	return never_goes(&found) ? ALL_PAGES : found.doubtful;
}

/* A piece of a block, while its pages are being counted. */
struct piece {
	bool movable; /* the block is in ZONE_MOVABLE */
	uint64_t start;
	unsigned long pages, good;
	void (*hear)(uint64_t start, uint64_t bytes, void *context);
	void *context;
};

static bool count_piece(uint64_t flags, void *context)
{
	struct memory_obstacles found = { 0 };
	struct piece *piece = context;

	count_obstacle(flags, &found);
	/* The kernel has no pages in ZONE_MOVABLE: doubtful ones are free ones in its caches. */
	piece->good += !never_goes(&found) && (!found.doubtful || piece->movable);
	if (++piece->pages < MEMORY_PIECE / PAGE)
		return true;
	piece->hear(piece->start, piece->good * PAGE, piece->context);
	piece->start += MEMORY_PIECE;
	piece->pages = piece->good = 0;
	return true;
}

void memory_block_pieces(const struct memory_block *block,
			 void (*hear)(uint64_t start, uint64_t bytes, void *context), void *context)
{
	struct piece piece = {
		.movable = block->movable, .start = block->start, .hear = hear, .context = context
	};

	for_each_page(block, count_piece, &piece);
}

static bool count_free(uint64_t flags, void *context)
{
	*(uint64_t *)context += has(flags, KPF_BUDDY) ? PAGE : 0;
	return true;
}

uint64_t memory_block_used(const struct memory_block *block)
{
	uint64_t free_bytes = 0, bytes = memory_block_bytes();

	for_each_page(block, count_free, &free_bytes);
	return bytes > free_bytes ? bytes - free_bytes : 0;
}
