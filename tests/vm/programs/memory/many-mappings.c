/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * many-mappings: prints what mmap, a first touch, mprotect and munmap cost with 100000 mappings, as
 * a multiple of their cost with 100, and checks that the new mappings are what was asked for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "check.h"

#define PAGE 4096UL
#define FEW 100
#define MANY 100000
#define ROUNDS 301

enum { MAP, TOUCH, PROTECT, UNMAP, KINDS };
static const char *const names[KINDS] = { "mmap", "first touch", "mprotect", "munmap" };
static uint64_t cycles[KINDS][ROUNDS];

static int by_size(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The turns of other threads disturb a few rounds only, so the median does not show them. */
static uint64_t median(uint64_t *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_size);
	return values[ROUNDS / 2];
}

/* Makes 'count' mappings: of every two pages that lie side by side one cannot be read. */
static char *make(size_t count)
{
	char *room = mmap(NULL, (count + 1) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return NULL;
	for (size_t i = 1; i < count; i += 2)
		if (mprotect(room + i * PAGE, PAGE, PROT_READ | PROT_WRITE))
			return NULL;
	return room;
}

static int measure(const char *room, size_t count, uint64_t result[KINDS])
{
	size_t at = 1;

	for (int i = 0; i < ROUNDS; i++) {
		/* A random one of the mappings, so that no cache of the last one helps. */
		char *old = (char *)room + (at = at * 48271 % 2147483647) % (count / 2) * 2 * PAGE;
		uint64_t start = __rdtsc();
		char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		cycles[MAP][i] = __rdtsc() - start;
		CHECK(page != MAP_FAILED);
		start = __rdtsc();
		CHECK(*(volatile char *)page == 0);
		cycles[TOUCH][i] = __rdtsc() - start;
		start = __rdtsc();
		CHECK(mprotect(old, PAGE, PROT_READ) == 0);
		cycles[PROTECT][i] = __rdtsc() - start;
		CHECK(mprotect(old, PAGE, PROT_NONE) == 0);
		start = __rdtsc();
		CHECK(munmap(page, PAGE) == 0);
		cycles[UNMAP][i] = __rdtsc() - start;
	}
	for (int kind = 0; kind < KINDS; kind++)
		result[kind] = median(cycles[kind]);
	return 0;
}

int main(void)
{
	uint64_t few[KINDS], many[KINDS];
	char *room = make(FEW);

	CHECK(room && measure(room, FEW, few) == 0);
	room = make(MANY);
	CHECK(room && measure(room, MANY, many) == 0);
	for (int kind = 0; kind < KINDS; kind++)
		printf("%s: %.2f times (%lu cycles, then %lu)\n", names[kind],
		       (double)many[kind] / few[kind], few[kind], many[kind]);
	return 0;
}
