/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory blocks, the pieces in which Linux puts memory on-line and off-line.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_block {
	unsigned long index; /* of /sys/devices/system/memory/memoryN */
	uint64_t start;	     /* physical address */
	bool online;
	bool movable; /* on-line, in ZONE_MOVABLE */
	/*
	 * Linux can never put it off-line, because it has holes, or is in several zones or NUMA
	 * nodes; or it must not, because of pages of hugetlbfs or because a driver may remove it,
	 * which only root sees.
	 */
	bool unfit;
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

#endif
