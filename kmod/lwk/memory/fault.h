/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making pages present, for a program or for the kernel itself. */
#ifndef LWK_MEMORY_FAULT_H
#define LWK_MEMORY_FAULT_H

#include "lwk/base/types.h"
#include "lwk/memory/space.h"
#include "lwk/paging/peephole.h"

/*
 * Makes the page at addr present. 0; -EFAULT: not allowed there; -EIO: allowed, but Linux has no
 * such page; -ENOMEM. Unless 'asks', Linux is not asked: -EFAULT for pages of Linux's; -EAGAIN: the
 * proxy must lose its view of the 2 MB around addr first.
 */
int space_fault(struct space *space, u64 addr, bool write, bool exec, bool asks);
/* Lets go of all pages that Linux has granted in the range, for Linux to have them back. */
void space_revoke(struct space *space, u64 addr, u64 size);
/*
 * Lets go of all granted pages of the space. The caller keeps the areas from changing. Returns
 * true when an area is shared.
 */
bool space_revoke_all(struct space *space);
/* Makes all of [addr, addr+size) present, as far as memory goes. 0 or as space_fault(). */
int space_populate(struct space *space, u64 addr, u64 size);
/*
 * Returns the kernel's address of addr, faulting its page in; the page stays there until
 * space_release(). NULL, and no release, when it is not allowed. A caller with another lock must
 * not ask Linux, and gets NULL for pages of Linux's.
 */
void *space_hold(struct space *space, u64 addr, bool write, bool asks);
static inline void space_release(struct space *space)
{
	peephole_close();
	spin_unlock(&space->lock);
}

/* The page's NUMA node, or PAGE_OF_LINUX. -ENOENT: no page is there; -EFAULT: no mapping. */
#define PAGE_OF_LINUX 0x10000
s64 space_page(struct space *space, u64 addr);

#endif
