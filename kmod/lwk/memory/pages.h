/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Physical memory: the kernel's pool and the processes'. */
#ifndef LWK_MEMORY_PAGES_H
#define LWK_MEMORY_PAGES_H

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

/* Return the physical address of a zeroed 4 KB or 2 MB page for a process; 0: there is none. */
u64 user_page_alloc(struct choice choice);
u64 user_large_alloc(struct choice choice);
/* The same, with what its last owner left in it: the caller overwrites all of it. */
u64 user_page_take(struct choice choice);
u64 user_large_take(struct choice choice);
/* A 2 MB page may be freed as a whole, or in 4 KB pages. */
void user_page_free(u64 phys);
void user_large_free(u64 phys);
/* A large page is from now on mapped as small ones. */
void user_large_split(u64 phys);
/* The page's memory is damaged: nobody gets it again when it is freed. */
void user_page_retire(u64 phys);
/* The NUMA node of a page. */
u32 user_page_node(u64 phys);
/* Bytes that no process has taken. */
u64 user_free_bytes(void);

/* Publishes what this slot's process has. */
void user_pages_publish(const struct space *space);
/* The first slot of another process has from now on what that of 'from' had. */
void pages_hand_over(struct slot *from, struct slot *to);

#endif
