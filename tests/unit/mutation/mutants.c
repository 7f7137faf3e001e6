// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Conditions with mutants ask this (mutate): $MUTANT is the number of the one that is in force, and
 * the file $MUTANTS_REACHED gets the numbers of all that were asked for.
 */
#include "mutants.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST 100000

static unsigned chosen;
static const char *reached_file;
static unsigned char reached[MOST];

static void write_reached(void)
{
	FILE *file = reached_file ? fopen(reached_file, "a") : NULL;

	if (!file)
		return;
	for (unsigned number = 0; number < MOST; number++) {
		if (reached[number])
			fprintf(file, "%u\n", number);
	}
	fclose(file);
}

__attribute__((constructor)) static void choose(void)
{
	const char *text = getenv("MUTANT");

	chosen = text ? (unsigned)strtoul(text, NULL, 10) : 0;
	reached_file = getenv("MUTANTS_REACHED");
	atexit(write_reached);
}

bool mutated(unsigned number)
{
	if (number < MOST)
		reached[number] = 1;
	return number == chosen;
}
