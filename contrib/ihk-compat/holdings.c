// SPDX-License-Identifier: GPL-2.0-or-later
#include "holdings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALL (~0UL)

static int count(const struct compat *compat, int owner, bool cpus)
{
	int n = 0;

	for (size_t i = 0; i < compat->n; i++)
		n += compat->owner[i] == owner && compat->lent[i].is_cpu == cpus;
	return n;
}

int count_cpus(const struct compat *compat, int owner)
{
	return count(compat, owner, true);
}

int count_memory(const struct compat *compat, int owner)
{
	return count(compat, owner, false);
}

int copy_cpus(const struct compat *compat, int owner, int *cpus, int n)
{
	if (n < 0 || n != count_cpus(compat, owner))
		return -EINVAL;
	for (size_t i = 0; i < compat->n; i++) {
		if (compat->owner[i] == owner && compat->lent[i].is_cpu)
			*cpus++ = compat->lent[i].cpu;
	}
	return 0;
}

int copy_memory(const struct compat *compat, int owner, struct ihk_mem_chunk *chunks, int n)
{
	if (n < 0 || n != count_memory(compat, owner))
		return -EINVAL;
	for (size_t i = 0; i < compat->n; i++) {
		if (compat->owner[i] == owner && !compat->lent[i].is_cpu)
			*chunks++ = (struct ihk_mem_chunk){ compat->lent[i].bytes,
							    compat->lent[i].node };
	}
	return 0;
}

int check_array(const void *array, int n)
{
	if (n < 0 || n > IHK_MAX_NUM_CPUS)
		return -EINVAL;
	return n && !array ? -EFAULT : 0;
}

static int mark_cpu(struct compat *compat, int cpu, int from, int to)
{
	for (size_t i = 0; i < compat->n; i++) {
		if (compat->owner[i] != from || !compat->lent[i].is_cpu ||
		    (int)compat->lent[i].cpu != cpu)
			continue;
		compat->owner[i] = to;
		return 0;
	}
	return -EINVAL;
}

int mark_cpus(struct compat *compat, const int *cpus, int n, int from, int to)
{
	int error = 0;

	for (int i = 0; !error && i < n; i++)
		error = mark_cpu(compat, cpus[i], from, to);
	return error;
}

static bool is_range(const struct compat *compat, size_t i, int from, int node)
{
	return compat->owner[i] == from && !compat->lent[i].is_cpu &&
	       (node < 0 || (int)compat->lent[i].node == node);
}

/* Marks all ranges of that node, or of all nodes when the number is negative. */
static void mark_all(struct compat *compat, int node, int from, int to)
{
	for (size_t i = 0; i < compat->n; i++) {
		if (is_range(compat, i, from, node))
			compat->owner[i] = to;
	}
}

/* Marks the largest range of the node of at most 'bytes'. Its bytes, or 0 if there is none. */
static unsigned long mark_largest(struct compat *compat, unsigned long bytes, int node, int from,
				  int to)
{
	size_t best = compat->n;

	for (size_t i = 0; i < compat->n; i++) {
		if (is_range(compat, i, from, node) && compat->lent[i].bytes <= bytes &&
		    (best == compat->n || compat->lent[i].bytes > compat->lent[best].bytes))
			best = i;
	}
	if (best == compat->n)
		return 0;
	compat->owner[best] = to;
	return compat->lent[best].bytes;
}

int mark_memory(struct compat *compat, const struct ihk_mem_chunk *chunks, int n, int from, int to,
		bool whole)
{
	for (int i = 0; i < n; i++) {
		unsigned long left = chunks[i].size, got;
		int node = chunks[i].numa_node_number;

		if (left == ALL) {
			mark_all(compat, whole ? -1 : node, from, to);
			continue;
		}
		if (!left || left % GRAIN || node < 0)
			return -EINVAL;
		while (left && (got = mark_largest(compat, left, node, from, to))) {
			if (whole && got != left)
				return -EINVAL;
			left -= got;
		}
		if (left)
			return whole ? -EINVAL : -ENOMEM;
	}
	return 0;
}
