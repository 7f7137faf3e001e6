/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALL_PAGES (~0UL)

/* A memory block of Linux that is on-line and wholly in one zone of one NUMA node. */
struct memory_block {
	unsigned long index; /* of /sys/devices/system/memory/memoryN */
	uint64_t start;	     /* physical address */
	bool movable;	     /* in ZONE_MOVABLE */
	/* How many of its pages the kernel itself may be using, or ALL_PAGES: it surely does. */
	unsigned long doubtful;
};

uint64_t memory_block_bytes(void);
/* Those of a node, the likeliest to go off-line first. Free with free(). */
size_t memory_blocks(unsigned node, struct memory_block **out);
/* What can be taken before Linux gets into trouble. */
uint64_t memory_linux_can_spare(void);

#endif
