/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The TLBs of the CPUs that share a space. */
#ifndef LWK_PAGING_TLB_H
#define LWK_PAGING_TLB_H

#include "lwk/memory/space.h"

/*
 * Makes every CPU's user mode forget what the tables said before. With the lock held: the other
 * CPUs answer without it. The kernel itself uses no user address.
 */
void tlb_flush_everywhere(struct space *space);
/* Makes this CPU's TLB forget what other CPUs have changed. */
void tlb_follow(struct space *space);

#endif
