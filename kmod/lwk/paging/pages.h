/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Physical memory: the kernel's pool and the processes'. */
#ifndef LWK_PAGING_PAGES_H
#define LWK_PAGING_PAGES_H

#include "lwk/base/types.h"
#include "lwk/memory/policy.h"

struct slot;
struct space;

void pages_init(void);
/* Bytes at the start of the reserve that the kernel has used so far. */
u64 kernel_used_bytes(void);
/*
 * Returns zeroed memory for boot, physically contiguous and never freed; panics if there is none.
 */
void *kernel_boot_alloc(size_t size);
/* Returns a zeroed page of the kernel's pool, or NULL. */
void *kernel_page_alloc(void);
void kernel_page_free(void *page);

/*
 * Returns the physical address of a 4 KB or 2 MB page for a process; 0: there is none. It is zero,
 * or has 'any_contents' for a caller that overwrites all of it.
 */
u64 user_page_alloc(struct choice choice, bool large, bool any_contents);
/*
 * A process gives up its page, which is free when no other process has it. A 2 MB page may be given
 * up as a whole, or, after user_large_split(), in 4 KB pages.
 */
void user_page_free(u64 phys);
void user_large_free(u64 phys);
/* A process maps a large page as small ones from now on. */
void user_large_split(u64 phys);
/*
 * One more process has the page. The caller has it and holds the lock of its space. Fewer processes
 * exist than a count can count.
 */
void user_page_share(u64 phys, bool large);
/*
 * True when another process has the page, or a part of it. If none has, none can get it before the
 * caller, who has the page, releases the lock of its space.
 */
bool user_page_is_shared(u64 phys, bool large);
/* The page's memory is damaged: nobody gets it again when it is freed. */
void user_page_retire(u64 phys);
/* The NUMA node of a page. */
u32 user_page_node(u64 phys);

/* Publishes what this slot's process has. */
void user_pages_publish(const struct space *space);
/* Publishes that the process of this first slot has nothing. */
void user_pages_forget(struct slot *slot);

#endif
