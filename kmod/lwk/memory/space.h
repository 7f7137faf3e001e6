/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's address space: what is mapped (areas) and the page tables.
 *
 * A page comes at the first touch: 2 MB where an area holds the whole aligned 2 MB and
 * the partition has such a page, 4 KB otherwise. Before a page is used for anything
 * else, the proxy must lose its view of it: pages that lwkpart.ko has shown to the proxy
 * carry LWK_PTE_SEEN_BY_LINUX, and the LWK asks for them back.
 *
 * Several CPUs share a space. A CPU that holds its lock waits for nothing but other CPUs' TLBs.
 * A thread that changes mappings is 'changing' the space until all is done, including the
 * proxy's part, and other threads that want to change it wait; page faults go on
 * meanwhile. A page that is to go is first in limbo: no longer present, and not yet free. A
 * page fault that finds it there, in an area that allows it, brings it back.
 *
 * Pages of shared areas are Linux's, and come and go with what lwkpart.ko grants (share.c). A
 * thread that fetches some is 'changing' the space, too, so that none comes while others are given
 * back.
 */
#ifndef LWK_MEMORY_SPACE_H
#define LWK_MEMORY_SPACE_H

#include "lwk/base/lock.h"
#include "lwk/base/types.h"

struct area;

/* A child of fork(2) has a copy of an area, zeros, or nothing. */
enum at_fork { FORK_COPIES, FORK_WIPES, FORK_LEAVES };

struct space {
	u64 root;	    /* physical address of the top page table */
	struct area *areas; /* the first, by address */
	struct area *tree;  /* the top of their tree */
	struct area *free_areas;
	void *area_pages; /* the kernel pages that areas are made of */
	u64 brk_start, brk;
	u64 pages_4k, pages_2m;
	u64 peak_bytes;
	struct spinlock lock; /* all of this, and the page tables */
	u32 changing;	      /* 1: a thread changes mappings */
	u64 tlb_generation;   /* counts what TLBs must forget */
	u64 revoked;	      /* counts how often Linux wanted granted pages back */
};

/* Takes over the page tables that lwkpart.ko made. The first CPU calls this once. */
void space_setup(void);
/* 0 or -ENOMEM */
int space_init(struct space *space);
/* Frees all of a space that no CPU has active any more and whose proxy is gone. */
void space_destroy(struct space *space);
/* Has this CPU use the space, which other CPUs may have changed. */
void space_activate(const struct space *space);
/* Goes back to the page tables that no process owns. */
void space_leave(void);
/* False after space_leave(). */
bool space_is_active(void);
/* Makes 'to' the space that 'from' is, and leaves 'from' empty. No CPU may be using either. */
void space_move(struct space *to, struct space *from);
/* Makes this CPU go on with the space of its process, which other CPUs may have changed. */
void space_resume(struct space *space);
/* Publishes what the process has. */
void space_publish(struct space *space);

#endif
