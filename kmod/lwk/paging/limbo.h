/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking pages away from a process: first out of sight of its CPUs and its proxy (in limbo), then
 * for good. The functions want the space's lock held.
 */
#ifndef LWK_PAGING_LIMBO_H
#define LWK_PAGING_LIMBO_H

#include "lwk/base/types.h"
#include "lwk/memory/space.h"

/* Changes an entry that lwkpart.ko may mark just now. *seen becomes true if it has. */
void change_entry(u64 *entry, u64 new, bool *seen);
/* Asks the proxy to forget its view of pages; gives the lock back meanwhile. */
void hide_from_proxy(struct space *space, u64 start, u64 end);
/* Puts the pages of [start, end) in limbo, where neither CPUs nor the proxy see them. */
void pages_to_limbo(struct space *space, u64 start, u64 end);
/*
 * Frees the pages of [start, end), by way of limbo; gives the lock back now and then, because there
 * may be many.
 */
void pages_give_back(struct space *space, u64 start, u64 end);
/* Makes a page in limbo present again. */
void page_revive(u64 *entry);

#endif
