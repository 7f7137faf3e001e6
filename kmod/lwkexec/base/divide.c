/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/base/divide.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct placed_cpu *one = a, *other = b;

	for (int part = 0; part < PARTS; part++)
		if (one->in[part] != other->in[part])
			return one->in[part] < other->in[part] ? -1 : 1;
	return 0;
}

void divide_sort(struct placed_cpu *cpus, size_t n)
{
	qsort(cpus, n, sizeof(*cpus), compare);
}

/* Returns the CPU with which part 'index' of the n CPUs begins, or n behind the last part. */
static size_t start_of(const struct placed_cpu *cpus, size_t n, enum part by, uint64_t index)
{
	uint64_t parts = 0;

	for (size_t i = 0; i < n; i++)
		if ((!i || cpus[i].in[by] != cpus[i - 1].in[by]) && parts++ == index)
			return i;
	return n;
}

static uint64_t count(const struct placed_cpu *cpus, size_t n, enum part by)
{
	uint64_t parts = 0;

	for (size_t i = 0; i < n; i++)
		parts += !i || cpus[i].in[by] != cpus[i - 1].in[by];
	return parts;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

size_t divide(const struct placed_cpu *cpus, size_t n, enum part by, uint32_t rank, uint32_t ranks,
	      size_t *share)
{
	uint64_t i = rank, of = ranks, parts;
	size_t first = 0, start, end;

	while ((parts = count(cpus + first, n, by)) < of && n > 1) {
		/* Ranks i with the same i * parts / of have this part together. */
		uint64_t part = i * parts / of, begin = divide_up(part * of, parts);

		start = start_of(cpus + first, n, by, part);
		n = start_of(cpus + first, n, by, part + 1) - start;
		first += start;
		i -= begin;
		of = divide_up((part + 1) * of, parts) - begin;
		by = by < PART_CORE ? PART_CORE : PART_CPU;
	}
	if (n > 1) {
		start = start_of(cpus + first, n, by, i * parts / of);
		end = start_of(cpus + first, n, by, (i + 1) * parts / of);
		first += start;
		n = end - start;
	}
	*share = n;
	return first;
}
