/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The areas of a space in a balanced tree, and in a list by address. */
#ifndef LWK_MEMORY_TREE_H
#define LWK_MEMORY_TREE_H

#include "lwk/memory/areas.h"
#include "lwk/memory/space.h"

/* Callers hold the space's lock. */

/* Returns the last area, or NULL. */
struct area *tree_last(const struct space *space);
/* Adds an area, which no other one overlaps. */
void tree_add(struct space *space, struct area *area);
/* Takes an area out, which is the caller's then. */
void tree_remove(struct space *space, struct area *area);
/* Sets the edges of an area, which overlaps no other one before or after. */
void tree_set_edges(struct space *space, struct area *area, u64 start, u64 end);
/* Returns the highest address with room in [floor, ceiling), a multiple of 'align', or 0. */
u64 tree_find_room(const struct space *space, u64 floor, u64 ceiling, u64 size, u64 align);

#endif
