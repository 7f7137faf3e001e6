/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that Linux can spare, and making room for what is in memory that is about to be taken.
 */
#ifndef SPARE_H
#define SPARE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the bytes that Linux can give up and still work well. */
uint64_t memory_linux_can_spare(void);

/*
 * True when Linux has so little memory left that a try to take some must end. Other programs may
 * have taken memory since the try began.
 */
bool memory_linux_is_short(void);

/*
 * Drops clean file cache before 'bytes' of a node are emptied, when at least a block's worth of
 * cache is in them. It does so in two cases: when the other nodes have no free room for all that is
 * in 'bytes' (each page that is moved there would first push another one out, in small portions),
 * and when the cache in 'bytes' is a good part of all cache, because moving a page costs many times
 * what dropping it does. Linux can only drop the cache of all nodes, so where the others have much
 * more, the cache is moved.
 */
void memory_make_room(unsigned node, uint64_t bytes, int64_t deadline);

#endif
