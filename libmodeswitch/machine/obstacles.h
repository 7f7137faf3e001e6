/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of memory blocks that keep Linux from putting them off-line.
 */
#ifndef OBSTACLES_H
#define OBSTACLES_H

#include <stdint.h>

#include "machine/memory.h"

#define ALL_PAGES (~0UL)

/* Numbers of pages of a block that keep Linux from putting it off-line. */
struct memory_obstacles {
	unsigned long slab, page_tables, reserved, broken, holes;
	/* Pages of unknown use: the kernel's own, or free ones in its caches. */
	unsigned long doubtful;
};

/* Counts the obstacles in a block; looks at each page. Root. */
void memory_look_for_obstacles(const struct memory_block *block, struct memory_obstacles *found);

/*
 * Returns the number of doubtful pages of a block; ALL_PAGES when it has other obstacles, and looks
 * no further than the first of these. Root.
 */
unsigned long memory_block_doubtful(const struct memory_block *block);

/* Bytes of a piece of a block: a large page of an LWK. */
#define MEMORY_PIECE (2UL << 20)

/*
 * Calls 'hear' for each piece of a block, by address, with the bytes in it that are free or that
 * Linux could move elsewhere now. In a movable block only holes and broken or reserved pages do not
 * count; in another block, pages that may be the kernel's own do not count either. 'hear' is never
 * called when the kernel does not show the flags of pages, which it shows only to root.
 */
void memory_block_pieces(const struct memory_block *block,
			 void (*hear)(uint64_t start, uint64_t bytes, void *context),
			 void *context);

/* Bytes of the block that Linux uses now. */
uint64_t memory_block_used(const struct memory_block *block);

#endif
