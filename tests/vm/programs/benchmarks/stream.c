/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream: the four loops of the STREAM benchmark, written from its published definition (J.
 * McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995),
 * and its check of their results. The rates, which differ from run to run, go to standard error.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "clock.h"

#define SIZE (1 << 20)
#define TIMES 10
#define SCALAR 3.0

static double a[SIZE], b[SIZE], c[SIZE];

static void copy(void)
{
	for (int i = 0; i < SIZE; i++)
		c[i] = a[i];
}

static void scale(void)
{
	for (int i = 0; i < SIZE; i++)
		b[i] = SCALAR * c[i];
}

static void add(void)
{
	for (int i = 0; i < SIZE; i++)
		c[i] = a[i] + b[i];
}

static void triad(void)
{
	for (int i = 0; i < SIZE; i++)
		a[i] = b[i] + SCALAR * c[i];
}

static const struct {
	const char *name;
	void (*loop)(void);
	int arrays; /* that it reads or writes */
} kernels[] = {
	{ "copy", copy, 2 }, { "scale", scale, 2 }, { "add", add, 3 }, { "triad", triad, 3 }
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

/* Mean relative error of an array whose elements should all be 'expected'. */
static double error_of(const double *array, double expected)
{
	double sum = 0;

	for (int i = 0; i < SIZE; i++)
		sum += fabs(array[i] - expected);
	return sum / SIZE / expected;
}

static int check(void)
{
	double x = 1, y = 2, z = 0;

	for (int i = 0; i < TIMES; i++) {
		z = x;
		y = SCALAR * z;
		z = x + y;
		x = y + SCALAR * z;
	}
	if (error_of(a, x) < 1e-13 && error_of(b, y) < 1e-13 && error_of(c, z) < 1e-13) {
		printf("%d times %d elements: a %g, b %g, c %g\n", TIMES, SIZE, x, y, z);
		return 0;
	}
	printf("wrong: expected a %g, b %g, c %g, found %g, %g, %g in the middle\n", x, y, z,
	       a[SIZE / 2], b[SIZE / 2], c[SIZE / 2]);
	return 1;
}

int main(void)
{
	double best[KERNELS];

	for (int i = 0; i < SIZE; i++) {
		a[i] = 1;
		b[i] = 2;
		c[i] = 0;
	}
	for (size_t k = 0; k < KERNELS; k++)
		best[k] = DBL_MAX;
	for (int i = 0; i < TIMES; i++)
		for (size_t k = 0; k < KERNELS; k++) {
			double start = now();

			kernels[k].loop();
			best[k] = fmin(best[k], now() - start);
		}
	for (size_t k = 0; k < KERNELS; k++)
		fprintf(stderr, "%s %.0f MB/s\n", kernels[k].name,
			sizeof(a) * kernels[k].arrays / best[k] / 1e6);
	return check();
}
