// SPDX-License-Identifier: GPL-2.0-or-later
#include "words.h"

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long read_digits(const char **text, const char *whole)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(*text, &end, 10);
	if (end == *text || errno || number < 0 || number > INT_MAX)
		errx(2, "expected a number, found \"%s\" in \"%s\"", *text, whole);
	*text = end;
	return number;
}

int read_number(const char *text)
{
	const char *at = text;
	long number = read_digits(&at, text);

	if (*at)
		errx(2, "expected a number, found \"%s\"", text);
	return number;
}

static void full(const char *whole)
{
	errx(2, "expected at most %d items, found more in \"%s\"", MAX_ITEMS, whole);
}

/* Reads a list up to a character that cannot be in it. */
static int read_list(const char **text, const char *whole, int cpus[MAX_ITEMS])
{
	int n = 0;

	do {
		long first, last;

		*text += **text == ',';
		first = last = read_digits(text, whole);
		if (**text == '-') {
			(*text)++;
			last = read_digits(text, whole);
		}
		for (; first <= last; first++) {
			if (n == MAX_ITEMS)
				full(whole);
			cpus[n++] = first;
		}
	} while (**text == ',');
	return n;
}

int read_cpus(const char *text, int cpus[MAX_ITEMS])
{
	const char *at = text;
	int n = read_list(&at, text, cpus);

	if (*at)
		errx(2, "expected CPUs such as 1-3,5, found \"%s\"", text);
	return n;
}

static unsigned long read_size(const char **text, const char *whole)
{
	static const char units[] = "KMG";
	unsigned long size;
	const char *unit;

	if (strncmp(*text, "all", 3) == 0) {
		*text += 3;
		return -1UL;
	}
	size = read_digits(text, whole);
	unit = **text ? strchr(units, **text & ~0x20) : NULL;
	if (unit && *unit) {
		(*text)++;
		size <<= 10 * (unit - units + 1);
	}
	return size;
}

int read_memory(const char *text, struct ihk_mem_chunk chunks[MAX_ITEMS])
{
	const char *at = text;
	int n = 0;

	do {
		at += *at == ',';
		if (n == MAX_ITEMS)
			full(text);
		chunks[n] = (struct ihk_mem_chunk){ .size = read_size(&at, text) };
		if (*at == '@') {
			at++;
			chunks[n].numa_node_number = read_digits(&at, text);
		}
		n++;
	} while (*at == ',');
	if (*at)
		errx(2, "expected memory such as 512M@0,1G@1, found \"%s\"", text);
	return n;
}

int read_map(const char *text, struct ihk_ikc_cpu_map map[MAX_ITEMS])
{
	const char *at = text;
	int sources[MAX_ITEMS], n = 0;

	do {
		int n_sources, target;

		at += *at == '+';
		n_sources = read_list(&at, text, sources);
		if (*at++ != ':')
			errx(2, "expected a map such as 1,2:0+3:4, found \"%s\"", text);
		target = read_digits(&at, text);
		for (int i = 0; i < n_sources; i++) {
			if (n == MAX_ITEMS)
				full(text);
			map[n++] = (struct ihk_ikc_cpu_map){ sources[i], target };
		}
	} while (*at == '+');
	if (*at)
		errx(2, "expected a map such as 1,2:0+3:4, found \"%s\"", text);
	return n;
}

void print_cpus(const int *cpus, int n)
{
	for (int i = 0; i < n; i++)
		printf("%s%d", i ? "," : "", cpus[i]);
	printf("\n");
}

void print_memory(const struct ihk_mem_chunk *chunks, int n)
{
	for (int i = 0; i < n; i++)
		printf("%s%lu@%d", i ? "," : "", chunks[i].size, chunks[i].numa_node_number);
	printf("\n");
}

int told(const char *what, int result)
{
	if (result >= 0)
		return 0;
	warnx("%s: %s", what, strerror(-result));
	return 1;
}
