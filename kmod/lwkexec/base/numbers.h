/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of CPUs or NUMA nodes, by Linux's numbers. */
#ifndef LWKEXEC_NUMBERS_H
#define LWKEXEC_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A Linux kernel of the distributions has at most so many CPUs or nodes. */
#define NUMBERS 8192
#define NUMBERS_WORDS (NUMBERS / 32)
struct numbers {
	uint32_t words[NUMBERS_WORDS];
};

/* Numbers from NUMBERS on are left out. */
static inline void numbers_add(struct numbers *set, size_t number)
{
	if (number < NUMBERS)
		set->words[number / 32] |= 1U << number % 32;
}

static inline bool numbers_have(const struct numbers *set, size_t number)
{
	return number < NUMBERS && set->words[number / 32] & 1U << number % 32;
}

/* Prints the set as Linux prints lists: "0-2,5". */
void numbers_print(FILE *out, const struct numbers *set);

#endif
