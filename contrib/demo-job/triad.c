/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * triad MEGABYTES: computes a triad like that of STREAM (McCalpin), verifies every element, and
 * writes a file and reads it back. It is an ordinary static program of the distribution's gcc and
 * runs the same on Linux and on the LWK, where it also prints facts of /proc/self/lwk.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define REPETITIONS 2
#define SCALAR 3.0
#define FILE_BYTES (1 << 20)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* A value of /proc/self/lwk, or -1 where no LWK is. */
static long long lwk_fact(const char *name)
{
	FILE *facts = fopen("/proc/self/lwk", "r");
	char key[64];
	long long value, result = -1;

	while (facts && fscanf(facts, "%63s %lld\n", key, &value) >= 1)
		if (strcmp(key, name) == 0)
			result = value;
		else if (strcmp(key, "version") == 0)
			while (fgetc(facts) != '\n')
				;
	if (facts)
		fclose(facts);
	return result;
}

static double *allocate(size_t n)
{
	double *array = mmap(NULL, n * sizeof(*array), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (array == MAP_FAILED)
		err(1, "%zu MB", n * sizeof(*array) >> 20);
	return array;
}

/* Returns the seconds of the fastest triad. */
static double compute(double *a, double *b, double *c, size_t n)
{
	double best = 1e9;

	for (size_t i = 0; i < n; i++) {
		b[i] = i;
		c[i] = 2.0 * i;
	}
	for (int r = 0; r < REPETITIONS; r++) {
		double start = now();

		for (size_t i = 0; i < n; i++)
			a[i] = b[i] + SCALAR * c[i];
		if (now() - start < best)
			best = now() - start;
	}
	for (size_t i = 0; i < n; i++)
		if (a[i] != 7.0 * i)
			errx(1, "element %zu is %g, not %g", i, a[i], 7.0 * i);
	return best;
}

/* Writes the start of 'data' to a file, reads it back and compares. */
static void write_and_read_back(const void *data)
{
	char name[] = "triad-XXXXXX";
	int file = mkstemp(name);
	char *copy = malloc(FILE_BYTES);

	if (file < 0 || !copy)
		err(1, "%s", name);
	if (write(file, data, FILE_BYTES) != FILE_BYTES || lseek(file, 0, SEEK_SET) != 0 ||
	    read(file, copy, FILE_BYTES) != FILE_BYTES)
		err(1, "%s", name);
	if (memcmp(data, copy, FILE_BYTES) != 0)
		errx(1, "%s: read back something else than was written", name);
	if (close(file) || unlink(name))
		err(1, "%s", name);
	free(copy);
}

int main(int argc, char **argv)
{
	size_t megabytes = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	size_t n = (megabytes << 20) / (3 * sizeof(double));
	long long disturbances;
	double *a, *b, *c, seconds;
	struct utsname kernel;

	if (n * sizeof(double) < FILE_BYTES)
		errx(2, "usage: triad MEGABYTES (at least 4)");
	uname(&kernel);
	a = allocate(n);
	b = allocate(n);
	c = allocate(n);
	disturbances = lwk_fact("disturbances");
	seconds = compute(a, b, c, n);
	if (disturbances >= 0)
		disturbances = lwk_fact("disturbances") - disturbances;
	write_and_read_back(a);

	printf("triad on CPU %d, %s: %zu MB verified, %.0f MB/s, %d KB file read back\n",
	       sched_getcpu(), kernel.release, megabytes,
	       3 * sizeof(double) * n / seconds / (1 << 20), FILE_BYTES >> 10);
	if (disturbances >= 0)
		printf("  LWK CPU %lld/%lld: pages %lld of 2 MB, %lld of 4 KB; interrupts %lld; delegated calls %lld\n",
		       lwk_fact("cpu_index"), lwk_fact("cpus"), lwk_fact("pages_2m"),
		       lwk_fact("pages_4k"), disturbances, lwk_fact("delegated_calls"));
	return 0;
}
