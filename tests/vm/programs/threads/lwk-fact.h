/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a number of /proc/self/lwk, about the LWK or the calling thread. */
#ifndef LWK_FACT_H
#define LWK_FACT_H

#include <stdio.h>
#include <string.h>

/* Returns the value behind the name in /proc/self/lwk; -1 without the name or (Linux) the file. */
static inline long long lwk_fact(const char *name)
{
	FILE *file = fopen("/proc/self/lwk", "re");
	long long value = -1, number;
	char word[64];

	while (file && fscanf(file, "%63s %lld", word, &number) >= 1)
		if (strcmp(word, name) == 0)
			value = number;
	if (file)
		fclose(file);
	return value;
}

#endif
