/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owners of lent CPUs and memory. mark_cpus() and mark_memory() change 'owner' of struct
 * compat, for all that the caller names or for nothing.
 */
#ifndef HOLDINGS_H
#define HOLDINGS_H

#include "compat.h"
#include "driver/ihk/ihklib.h"

int count_cpus(const struct compat *compat, int owner);
int count_memory(const struct compat *compat, int owner);

/* Copy what the owner has. -EINVAL: 'n' is not the exact number; -EFAULT: there is no array. */
int copy_cpus(const struct compat *compat, int owner, int *cpus, int n);
int copy_memory(const struct compat *compat, int owner, struct ihk_mem_chunk *chunks, int n);

/*
 * Checks an array that a caller has passed: its count, and that it is there if the count is not 0.
 */
int check_array(const void *array, int n);

/* Gives CPUs of the owner 'from' to 'to'. 0; -EINVAL: one is not 'from''s. */
int mark_cpus(struct compat *compat, const int *cpus, int n, int from, int to);
/*
 * Gives each chunk's bytes of that NUMA node, in whole ranges, to 'to': -ENOMEM when no ranges of
 * 'from' make up that size. 'whole': a chunk is one range, -EINVAL. A size of -1UL is all of
 * the node; with 'whole', of all nodes.
 */
int mark_memory(struct compat *compat, const struct ihk_mem_chunk *chunks, int n, int from, int to,
		bool whole);

#endif
