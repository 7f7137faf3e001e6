/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changing the mappings of a space that several threads use. */
#ifndef LWK_MEMORY_CHANGE_H
#define LWK_MEMORY_CHANGE_H

#include "lwk/memory/space.h"

/*
 * Waits until no other thread changes mappings, and takes the lock. No other thread changes them
 * from here to change_end(), even while the caller gives the lock back.
 */
void change_begin(struct space *space);
void change_end(struct space *space);
/* Keeps other threads from changing mappings, without the lock, until space_let_change(). */
void space_keep(struct space *space);
void space_let_change(struct space *space);
/* Ends what the only process of this space has begun to change, when it has ended. */
void space_settle(struct space *space);

#endif
