/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fwq SAMPLES WORK: fixed work quanta (Sottile and Minnich, Analysis of microbenchmarks for
 * performance tuning of clusters, 2004): the same work again and again, and how long each took. A
 * piece of work that takes longer than the quickest one was disturbed.
 *
 * Prints "NAME COUNT" of each event on its CPU meanwhile, as the LWK or Linux counts it; then "ns",
 * and the samples, one a line.
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct counts {
	long long disturbances; /* of the LWK; -1: this is Linux */
	long long devices, ticks, ipis, others;
	long long switches; /* of context */
};

static void read_lwk(struct counts *counts)
{
	FILE *file = fopen("/proc/self/lwk", "r");
	char line[256];

	counts->disturbances = -1;
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "disturbances %lld", &counts->disturbances);
	if (file)
		fclose(file);
}

static void read_switches(struct counts *counts)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long long number;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "voluntary_ctxt_switches: %lld", &number) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %lld", &number) == 1)
			counts->switches += number;
	}
	if (file)
		fclose(file);
}

/* The place of a CPU's column; -1 when the CPU has no column. */
static int column_of(const char *line, int cpu)
{
	int length, number;

	for (int i = 0; sscanf(line, " CPU%d%n", &number, &length) == 1; line += length, i++) {
		if (number == cpu)
			return i;
	}
	return -1;
}

static void add_line(char *line, int column, struct counts *counts)
{
	char name[16], *end;
	long long number = 0;
	int length;

	if (sscanf(line, " %15[^: ]:%n", name, &length) != 1)
		return;
	line += length;
	for (int i = 0; i <= column; i++) {
		number = strtoll(line, &end, 10);
		if (end == line)
			return;
		line = end;
	}
	if (*name >= '0' && *name <= '9')
		counts->devices += number;
	else if (strcmp(name, "LOC") == 0)
		counts->ticks += number;
	else if (strcmp(name, "RES") == 0 || strcmp(name, "CAL") == 0 || strcmp(name, "TLB") == 0)
		counts->ipis += number;
	else
		counts->others += number;
}

static void read_interrupts(struct counts *counts)
{
	FILE *file = fopen("/proc/interrupts", "r");
	int column = -1, cpu = sched_getcpu();
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		if (column < 0)
			column = column_of(line, cpu);
		else
			add_line(line, column, counts);
	}
	free(line);
	if (file)
		fclose(file);
}

static struct counts read_counts(void)
{
	struct counts counts = { 0 };

	read_lwk(&counts);
	if (counts.disturbances < 0) {
		read_interrupts(&counts);
		read_switches(&counts);
	}
	return counts;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void compute(long work)
{
	volatile double x = 1;

	for (long i = 0; i < work; i++)
		x = x * 1.0000001;
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[1]) : 0, work = argc == 3 ? atol(argv[2]) : 0;
	struct counts before, after;
	int64_t *samples, last;

	if (n < 1 || work < 1)
		errx(2, "usage: fwq SAMPLES WORK");
	samples = calloc(n, sizeof(*samples));
	if (!samples)
		err(1, "memory");
	/* The pages are there before anything counts. */
	memset(samples, 1, n * sizeof(*samples));
	compute(work);
	before = read_counts();
	last = now_ns();
	for (long i = 0; i < n; i++) {
		int64_t now;

		compute(work);
		now = now_ns();
		samples[i] = now - last;
		last = now;
	}
	after = read_counts();
	if (after.disturbances >= 0)
		printf("disturbances %lld\n", after.disturbances - before.disturbances);
	else
		printf("devices %lld\nticks %lld\nipis %lld\nothers %lld\nswitches %lld\n",
		       after.devices - before.devices, after.ticks - before.ticks,
		       after.ipis - before.ipis, after.others - before.others,
		       after.switches - before.switches);
	puts("ns");
	for (long i = 0; i < n; i++)
		printf("%lld\n", (long long)samples[i]);
	return 0;
}
