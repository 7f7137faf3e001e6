/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated partition of two CPUs and two ranges of memory, in which files of the LWK run. */
#ifndef FUZZ_LWK_PARTITION_H
#define FUZZ_LWK_PARTITION_H

#include "fuzz.h"
#include "lwk/base/types.h"
#include "lwk/process/slot.h"

#define SLOTS 2

/*
 * Begins again, as after boot, with that many pages left for the kernel. 'levels' of page tables are
 * 4 or 5.
 */
void partition_reset(unsigned int kernel_pages, unsigned int levels);
/* The calls that follow happen on this slot's CPU. */
void partition_run(u32 index);

/* The number of a page of the processes' memory, or -1. */
int partition_user_page(u64 phys);
#define USER_PAGES 3584
#define LARGE_PAGES (LARGE_SIZE / PAGE_SIZE)
/* True when all of the large page with this page is free, by pages.c. */
bool partition_is_whole(int page);
/* Returns how many processes have that page, by pages.c. */
u32 partition_owners(int page);
/* True when the page is one of the kernel's reserve and nothing has used it since boot. */
bool partition_kernel_page(u64 phys);
/* A page that is Linux's. */
#define LINUX_PAGES 0x900000000UL

/* The pages that the kernel's pool has given out since the reset (pages.c). */
u64 partition_kernel_pages_taken(void);

/* Bytes that no process has taken. */
u64 user_free_bytes(void);

#endif
