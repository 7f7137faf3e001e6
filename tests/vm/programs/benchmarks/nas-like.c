/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nas-like ep|cg: two small kernels written from the specification of the NAS Parallel Benchmarks
 * (Bailey et al., RNR-94-007): pairs of Gaussian deviates, and the smallest eigenvalue of a sparse
 * symmetric matrix by conjugate gradients. The numbers that they print do not depend on the
 * machine.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS (1 << 18)
#define ROWS 1400
#define PER_ROW 14
#define SHIFT 20.0

static uint64_t state = 271828183;

/* x' = 5^13 x mod 2^46, as a number between 0 and 1 */
static double next(void)
{
	state = state * 1220703125 & ((1UL << 46) - 1);
	return state * 0x1p-46;
}

static void ep(void)
{
	double sums[2] = { 0 };
	long counts[10] = { 0 };

	for (long i = 0; i < PAIRS; i++) {
		double x = 2 * next() - 1, y = 2 * next() - 1, t = x * x + y * y;

		if (t > 1)
			continue;
		t = sqrt(-2 * log(t) / t);
		sums[0] += x * t;
		sums[1] += y * t;
		counts[(int)fmax(fabs(x * t), fabs(y * t))]++;
	}
	printf("sums %.9e %.9e, counts", sums[0], sums[1]);
	for (int i = 0; i < 10; i++)
		printf(" %ld", counts[i]);
	puts("");
}

static struct {
	int column;
	double value;
} matrix[ROWS][2 * PER_ROW + 1];
static int filled[ROWS];

static void add(int row, int column, double value)
{
	if (filled[row] < 2 * PER_ROW) {
		matrix[row][filled[row]].column = column;
		matrix[row][filled[row]++].value = value;
	}
}

static void multiply(const double *x, double *y)
{
	for (int i = 0; i < ROWS; i++) {
		y[i] = 0;
		for (int j = 0; j < filled[i]; j++)
			y[i] += matrix[i][j].value * x[matrix[i][j].column];
	}
}

static double dot(const double *x, const double *y)
{
	double sum = 0;

	for (int i = 0; i < ROWS; i++)
		sum += x[i] * y[i];
	return sum;
}

/* Solves A z = x in 25 steps. */
static void solve(const double *x, double *z)
{
	static double r[ROWS], p[ROWS], q[ROWS];
	double rho = dot(x, x);

	memset(z, 0, ROWS * sizeof(*z));
	memcpy(r, x, sizeof(r));
	memcpy(p, x, sizeof(p));
	for (int step = 0; step < 25; step++) {
		double alpha, old = rho;

		multiply(p, q);
		alpha = rho / dot(p, q);
		for (int i = 0; i < ROWS; i++) {
			z[i] += alpha * p[i];
			r[i] -= alpha * q[i];
		}
		rho = dot(r, r);
		for (int i = 0; i < ROWS; i++)
			p[i] = r[i] + rho / old * p[i];
	}
}

static void cg(void)
{
	static double x[ROWS], z[ROWS];

	for (int i = 0; i < ROWS; i++) {
		matrix[i][0].column = i;
		matrix[i][0].value = SHIFT + PER_ROW;
		filled[i] = 1;
		x[i] = 1;
	}
	/*
	 * Entries go only where both rows have room, so that the matrix stays symmetric and
	 * definite.
	 */
	for (int i = 0; i < ROWS * PER_ROW / 2; i++) {
		int a = next() * ROWS, b = next() * ROWS;
		double value = next();

		if (a != b && filled[a] < 2 * PER_ROW && filled[b] < 2 * PER_ROW) {
			add(a, b, value);
			add(b, a, value);
		}
	}
	for (int round = 0; round < 5; round++) {
		double length;

		solve(x, z);
		printf("zeta %.10f\n", SHIFT + 1 / dot(x, z) * dot(x, x));
		length = sqrt(dot(z, z));
		for (int i = 0; i < ROWS; i++)
			x[i] = z[i] / length;
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "ep") == 0)
		ep();
	else if (argc == 2 && strcmp(argv[1], "cg") == 0)
		cg();
	else
		return 2;
	return 0;
}
