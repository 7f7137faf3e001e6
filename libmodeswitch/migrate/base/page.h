/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page in the list of a process's pages: where it is, of what kind, and what became of it.
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/lwkpart.h"

#define PAGE_BYTES 4096UL

enum page_state {
	PAGE_WAITING,
	PAGE_MOVED,
	PAGE_GONE,
	PAGE_LEFT, /* plus an enum ms_migrate_left */
};

/* A page or a huge page. */
struct migrate_page {
	uint64_t word;	/* its address with LWKPART_PAGE_* in the lower bits */
	uint16_t score; /* how much in use; see score_use() in page_list.c */
	uint8_t state;	/* enum page_state */
	bool hot;	/* was ever seen in use */
};

static inline uint64_t page_bytes(const struct migrate_page *page)
{
	return page->word & LWKPART_PAGE_GIANT	? 1UL << 30
	       : page->word & LWKPART_PAGE_HUGE ? 2UL << 20
						: PAGE_BYTES;
}

static inline uint64_t page_address(const struct migrate_page *page)
{
	return page->word & ~(PAGE_BYTES - 1);
}

#endif
