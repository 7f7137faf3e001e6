/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of an LWK process, as the LWK's page tables map it. Nothing that the LWK or the user
 * wrote is trusted: every table on the way lies in the instance's memory, and the memory itself
 * outside the LWK kernel's reserve (abi/shared/layout.h). With rwsem held, in a state that has
 * processes.
 */
#ifndef LWKPART_VIEW_H
#define LWKPART_VIEW_H

#include <linux/mm.h>
#include <linux/uio.h>

#include "process/thread/thread.h"

/* A page of the LWK process. */
struct view {
	u64 *entry;	   /* of the page: 4 KB or 2 MB */
	u64 value;	   /* of the entry, read once */
	unsigned int size; /* bytes it maps */
};

/* Finds the page at addr; false when there is none, or when a table lies outside the partition. */
bool view_find(const struct instance *instance, int slot, unsigned long addr, struct view *view);
/* The physical address of addr, which the view maps. */
u64 view_phys(const struct view *view, unsigned long addr);
/* True when all of this memory is the partition's, and nothing of it the LWK kernel's reserve. */
bool view_in_user_pool(const struct instance *instance, u64 phys, u64 size);
/* Tells the LWK that Linux uses the page. False: the LWK has changed the entry meanwhile. */
bool view_mark_seen(const struct view *view);
/*
 * Fills 'memory' with the pieces of the direct map that are [addr, addr + size) of the thread's
 * process, and marks the pages as seen. Returns the number of pieces; 0: a page is not there, is not
 * the partition's own, cannot be written to if 'write', or there are more than 'most' pieces. The
 * pages stay the process's while 'shown' is held, too. The thread then knows the last page
 * (view_known()), so only one caller maps for a thread at a time.
 */
unsigned int view_map(struct lwk_thread *thread, u64 addr, u64 size, bool write,
		      struct kvec *memory, unsigned int most);

/*
 * Returns where [addr, addr + size) is in the direct map, when it lies in the page that the thread
 * knows; else NULL. The LWK has a page that Linux has seen hidden before it uses it for anything
 * else, so the page is still the process's. With 'shown' held; size is not 0.
 */
static inline void *view_known(const struct lwk_thread *thread, u64 addr, u64 size, bool write)
{
	if (addr >> PAGE_SHIFT != thread->page.number ||
	    thread->page.hidings != thread->process->hidings ||
	    size > PAGE_SIZE - offset_in_page(addr) || (write && !thread->page.writable))
		return NULL;
	return thread->page.at + offset_in_page(addr);
}

#endif
