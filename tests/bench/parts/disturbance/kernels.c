// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fixed amounts of the work of two well-known benchmarks, for the LWK:
 *   kernels himeno|copy|scale|add|triad TIMES
 * himeno: the 19-point Jacobi sweep of the Himeno benchmark (RIKEN), size XS; the others: the
 * four loops of STREAM (McCalpin), 3 arrays of 16 MB. Prints the seconds they took, and how many
 * interrupts came and calls were delegated meanwhile (null on Linux, which does not tell).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NI 33
#define NJ 33
#define NK 65
#define STREAM (2UL << 20)

typedef float grid[NI][NJ][NK];

static grid p, wrk1, wrk2, bnd, a[4], b[3], c[3];
static double x[STREAM], y[STREAM], z[STREAM];

static void fill(grid to, float value)
{
	for (int i = 0; i < NI; i++)
		for (int j = 0; j < NJ; j++)
			for (int k = 0; k < NK; k++)
				to[i][j][k] = value;
}

static void himeno_init(void)
{
	for (int n = 0; n < 3; n++) {
		fill(a[n], 1);
		fill(b[n], 0);
		fill(c[n], 1);
	}
	fill(a[3], 1.0F / 6);
	fill(bnd, 1);
	for (int i = 0; i < NI; i++)
		for (int j = 0; j < NJ; j++)
			for (int k = 0; k < NK; k++)
				p[i][j][k] = (float)(i * i) / ((NI - 1) * (NI - 1));
}

static float himeno(void)
{
	float gosa = 0;

	for (int i = 1; i < NI - 1; i++)
		for (int j = 1; j < NJ - 1; j++)
			for (int k = 1; k < NK - 1; k++) {
				float s0 =
					a[0][i][j][k] * p[i + 1][j][k] +
					a[1][i][j][k] * p[i][j + 1][k] +
					a[2][i][j][k] * p[i][j][k + 1] +
					b[0][i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] -
							 p[i - 1][j + 1][k] + p[i - 1][j - 1][k]) +
					b[1][i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] -
							 p[i][j + 1][k - 1] + p[i][j - 1][k - 1]) +
					b[2][i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] -
							 p[i + 1][j][k - 1] + p[i - 1][j][k - 1]) +
					c[0][i][j][k] * p[i - 1][j][k] +
					c[1][i][j][k] * p[i][j - 1][k] +
					c[2][i][j][k] * p[i][j][k - 1] + wrk1[i][j][k];
				float ss = (s0 * a[3][i][j][k] - p[i][j][k]) * bnd[i][j][k];

				gosa += ss * ss;
				wrk2[i][j][k] = p[i][j][k] + 0.8F * ss;
			}
	for (int i = 1; i < NI - 1; i++)
		for (int j = 1; j < NJ - 1; j++)
			memcpy(&p[i][j][1], &wrk2[i][j][1], (NK - 2) * sizeof(float));
	return gosa;
}

static float sweep(const char *kernel)
{
	if (strcmp(kernel, "himeno") == 0)
		return himeno();
	if (strcmp(kernel, "copy") == 0)
		for (size_t i = 0; i < STREAM; i++)
			z[i] = x[i];
	else if (strcmp(kernel, "scale") == 0)
		for (size_t i = 0; i < STREAM; i++)
			y[i] = 3 * z[i];
	else if (strcmp(kernel, "add") == 0)
		for (size_t i = 0; i < STREAM; i++)
			z[i] = x[i] + y[i];
	else if (strcmp(kernel, "triad") == 0)
		for (size_t i = 0; i < STREAM; i++)
			x[i] = y[i] + 3 * z[i];
	else
		exit(2);
	return x[1] + y[2] + z[3];
}

struct facts {
	long long disturbances, calls;
};

static struct facts read_facts(void)
{
	FILE *file = fopen("/proc/self/lwk", "r");
	struct facts facts = { -1, -1 };
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "disturbances %lld", &facts.disturbances);
		sscanf(line, "delegated_calls %lld", &facts.calls);
	}
	if (file)
		fclose(file);
	return facts;
}

/* Prints null for a count that could not be read. */
static void print_count(long long first, long long count)
{
	if (first < 0)
		printf("null");
	else
		printf("%lld", count);
}

int main(int argc, char **argv)
{
	long times = argc == 3 ? atol(argv[2]) : 0;
	struct facts first, before, after;
	struct timespec start, end;
	volatile float sum = 0;

	if (times < 1)
		return 2;
	himeno_init();
	for (size_t i = 0; i < STREAM; i++)
		x[i] = y[i] = z[i] = 1;
	/* Reading the facts is itself some calls, always as many. */
	read_facts();
	first = read_facts();
	before = read_facts();
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < times; i++)
		sum = sum + sweep(argv[1]);
	clock_gettime(CLOCK_MONOTONIC, &end);
	after = read_facts();
	printf("{\"kernel\":\"%s\",\"seconds\":%.6f,\"disturbances\":", argv[1],
	       end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9);
	print_count(first.disturbances, after.disturbances - before.disturbances);
	printf(",\"calls\":");
	print_count(first.calls, after.calls - before.calls - (before.calls - first.calls));
	puts("}");
	return 0;
}
