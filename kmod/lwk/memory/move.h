/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moving pages from one address to another. */
#ifndef LWK_MEMORY_MOVE_H
#define LWK_MEMORY_MOVE_H

#include "lwk/base/types.h"
#include "lwk/memory/space.h"

/*
 * Moves the pages of [from, from + size), all in limbo, to where nothing is. The range must have
 * been split by split_for_move(). 0 or -ENOMEM, after which some have moved.
 */
int move_pages(struct space *space, u64 from, u64 to, u64 size);
int split_for_move(struct space *space, u64 from, u64 to, u64 size);

#endif
