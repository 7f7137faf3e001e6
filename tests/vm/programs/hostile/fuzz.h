/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers and pointers for programs that make random calls, from a seed. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "abi/shared/layout.h"

/* xorshift64*; each thread has its own state. */
static __thread uint64_t fuzz_state;

static inline uint64_t fuzz_random(void)
{
	fuzz_state ^= fuzz_state >> 12;
	fuzz_state ^= fuzz_state << 25;
	fuzz_state ^= fuzz_state >> 27;
	return fuzz_state * 0x2545f4914f6cdd1dUL;
}

static inline void fuzz_seed(uint64_t seed)
{
	fuzz_state = seed * 0x9e3779b97f4a7c15UL | 1;
	fuzz_random();
}

static inline uint64_t fuzz_below(uint64_t n)
{
	return fuzz_random() % n;
}

#define FUZZ_PAGES 64
#define FUZZ_BYTES (FUZZ_PAGES * 4096UL)
/* Memory that the calls may use, change and unmap. */
static uint8_t *fuzz_arena;

static inline int fuzz_make_arena(void)
{
	fuzz_arena =
		mmap(NULL, FUZZ_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return fuzz_arena == MAP_FAILED ? -1 : 0;
}

/* An address in the arena, or one that a kernel must refuse. */
static inline uint64_t fuzz_pointer(void)
{
	static const uint64_t bad[] = { 0,
					8,
					4095,
					LWK_USER_END - 4096,
					LWK_USER_END,
					0x7ffffffff000,
					0x800000000000,
					0xffff800000000000,
					0xffff900000000000,
					0xffffffff80000000,
					0xfffffffffffffff0 };

	switch (fuzz_below(8)) {
	case 0:
		return bad[fuzz_below(sizeof(bad) / sizeof(*bad))];
	case 1:
		/* Runs into what lies behind the arena. */
		return (uint64_t)fuzz_arena + FUZZ_BYTES - fuzz_below(64);
	case 2:
		return (uint64_t)fuzz_arena + fuzz_below(FUZZ_BYTES);
	default:
		return (uint64_t)fuzz_arena + fuzz_below(FUZZ_PAGES) * 4096;
	}
}

static inline uint64_t fuzz_word(void)
{
	switch (fuzz_below(8)) {
	case 0:
		return fuzz_random();
	case 1:
		return fuzz_random() >> fuzz_below(64);
	case 2:
		return -fuzz_below(4096);
	case 3:
		return 1UL << fuzz_below(64);
	case 4:
		return fuzz_below(FUZZ_PAGES) * 4096;
	case 5:
		return fuzz_pointer();
	default:
		return fuzz_below(16);
	}
}

#endif
