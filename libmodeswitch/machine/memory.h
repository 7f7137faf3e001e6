/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory blocks, the pieces in which Linux puts memory on-line and off-line.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALL_PAGES (~0UL)

struct memory_block {
	unsigned long index; /* of /sys/devices/system/memory/memoryN */
	uint64_t start;	     /* physical address */
	bool online;
	bool movable; /* on-line, in ZONE_MOVABLE */
	/*
	 * Linux can never put it off-line, because it has holes, or is in several zones or NUMA
	 * nodes; or it must not, because of pages of hugetlbfs, which only root sees.
	 */
	bool unfit;
};

/* Numbers of pages of a block that keep Linux from putting it off-line. */
struct memory_obstacles {
	unsigned long slab, page_tables, reserved, broken, holes;
	/* Pages of unknown use: the kernel's own, or free ones in its caches. */
	unsigned long doubtful;
};

uint64_t memory_block_bytes(void);

/* Lists the blocks of a NUMA node by address; returns their number. The caller frees *out. */
size_t memory_blocks(unsigned node, struct memory_block **out);

/* Returns true if the block's state is 'state': "online", "offline" or "going-offline". */
bool memory_block_is(unsigned long index, const char *state);

/* Returns true if the block is on-line and in ZONE_MOVABLE. */
bool memory_block_is_movable(unsigned long index);

/*
 * Puts a block off-line; returns true if it is. Linux tries for ever while a page cannot be moved,
 * so a child process does it, which is killed at 'deadline' (clock_ms()), when a signal is pending,
 * or when Linux runs short of memory.
 */
bool memory_block_take(unsigned long index, int64_t deadline);

/* Puts a block on-line, with 'how' "online_movable" or "online_kernel". 0 or a negative errno. */
int memory_block_return(unsigned long index, const char *how);

/* Returns a deadline (clock_ms()) for one block, long enough to copy its contents elsewhere. */
int64_t memory_block_deadline(void);

/*
 * Drops clean file cache before 'bytes' of a node are emptied, when at least a block's worth of
 * cache is in them. It does so in two cases: when the other nodes have no free room for all that is
 * in 'bytes' (each page that is moved there would first push another one out, in small portions),
 * and when the cache in 'bytes' is a good part of all cache, because moving a page costs many times
 * what dropping it does. Linux can only drop the cache of all nodes, so where the others have much
 * more, the cache is moved.
 */
void memory_make_room(unsigned node, uint64_t bytes, int64_t deadline);

/* Counts the obstacles in a block; looks at each page. Root. */
void memory_look_for_obstacles(const struct memory_block *block, struct memory_obstacles *found);

/* Returns the number of doubtful pages of a block; ALL_PAGES when it has other obstacles. */
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

/*
 * Chooses at most 'wanted' neighbours among blocks, which are sorted by address; fit[i] says
 * whether block i is a candidate. Takes the lower end of the smallest row that is long enough, so
 * that larger rows stay whole; without one, the longest row. Returns the number of blocks, the
 * first at *first.
 */
size_t memory_choose_row(const struct memory_block *blocks, const bool *fit, size_t n,
			 size_t wanted, size_t *first);

/* Returns the bytes that Linux can give up and still work well. */
uint64_t memory_linux_can_spare(void);

#endif
