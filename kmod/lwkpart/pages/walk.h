/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_WALK_H
#define LWKPART_WALK_H

#include <linux/mm_types.h>

/* The memory of the process with this pid, for mmput(), or NULL when there is none. */
struct mm_struct *walk_find_memory(s32 number);

/*
 * Takes mmap_lock for reading, for mmap_read_unlock(). The process itself can keep it for as long as it
 * wants: one thread reads a page of its own FUSE through /proc/self/mem, another maps memory. So this
 * waits for 100 ms at most. 0, -EBUSY, or -EINTR when the caller is killed.
 */
int walk_lock_memory(struct mm_struct *mm);

/*
 * The entry for 'address' in a table of 2 MB entries, or NULL when the upper levels have none.
 * *next is the end of what the entry or the hole covers, at most 'end'. *giant is the entry
 * of a 1 GB page at 'address', or NULL. With mmap_lock held; for a mapping of hugetlb, which may share
 * tables with other processes, the table is there as long as RCU's read lock is held, too.
 */
pmd_t *walk_find_pmd(struct mm_struct *mm, unsigned long address, unsigned long end,
		     unsigned long *next, pud_t **giant);

#endif
