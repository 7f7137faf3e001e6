/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The areas of a space: its mappings, by address. */
#ifndef LWK_MEMORY_AREAS_H
#define LWK_MEMORY_AREAS_H

#include <linux/mman.h>

#include "lwk/base/types.h"
#include "lwk/memory/policy.h"
#include "lwk/memory/space.h"

#define PROT_ALL (PROT_READ | PROT_WRITE | PROT_EXEC)

/* [start, end), with one protection. */
struct area {
	struct area *next, *previous; /* by address */
	struct area *left, *right;    /* in the tree (tree.c) */
	u64 start, end;
	u64 room; /* the greatest gap below an area of this part of the tree */
	u8 prot;
	u8 level;	      /* in the tree */
	bool sparse;	      /* larger than the partition's memory: no large pages */
	bool reserved;	      /* the proxy has something else here: it stays empty */
	bool shared;	      /* its pages are Linux's (share.c), and so is what is in them */
	u8 at_fork;	      /* enum at_fork */
	u32 file;	      /* the proxy's number for what was mapped here, or 0 */
	u64 offset;	      /* in that file, of 'start' */
	struct policy policy; /* MPOL_DEFAULT: the thread's */
};

/* The functions below, up to find_room(), want the space's lock held. */

/* Returns true for a range of whole pages that a process may use. */
bool range_valid(u64 addr, u64 size);
/* True when no page of [start, end) is in an area. */
bool range_free(struct space *space, u64 start, u64 end);
/* True when every page of [start, end) is in some area. */
bool range_mapped(struct space *space, u64 start, u64 end);
/* Returns the first area that ends behind addr, or NULL. */
struct area *area_from(const struct space *space, u64 addr);
/* Returns the area at addr, or NULL. */
struct area *area_at(struct space *space, u64 addr);
void area_remove(struct space *space, struct area *area);
/* Makes sure that no area spans addr. 0 or -ENOMEM. */
int area_split(struct space *space, u64 addr);
/* Joins an area with its successors while they are alike. */
void area_join(struct space *space, struct area *area);
/* Adds an area with all that 'like' says, except its links. 0 or -ENOMEM. */
int area_insert(struct space *space, const struct area *like);
/* A search for room starts here and leaves room for the dynamic linker and the stack behind. */
#define MAPPINGS_END (LWK_USER_END - (64UL << 30))
/* The end of what MAP_32BIT asks for. */
#define LOW_END (2UL << 30)
/* Returns the highest room of that size below one of these ends, or 0. */
u64 find_room(struct space *space, u64 size, u64 end);

/* The source of a new page of the area. */
struct choice area_choice(const struct area *area, u64 addr);

/* True when addr is in others' memory. */
bool space_is_shared(struct space *space, u64 addr);
/* Sets [*start, *stop) to others' memory that is first in [*start, end); false: there is none. */
bool space_find_shared(struct space *space, u64 *start, u64 *stop, u64 end);
/* Copies the first area that ends behind addr; false: there is none. */
bool space_find_area(struct space *space, u64 addr, struct area *found);
/* True when each page of the range is in some mapping. */
bool space_is_mapped(struct space *space, u64 addr, u64 size);
/* Tells the proxy what is mapped where. 0, or the proxy's error. */
s64 space_tell(struct space *space);

#endif
