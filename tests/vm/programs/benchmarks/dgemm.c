/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dgemm: computes matrix products by the C interface of the BLAS, C = 1.5 op(A) op(B) - 0.5 C,
 * plain and transposed, and compares each with the result of three loops. Prints rates to standard
 * error.
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* The sizes are no multiples of a vector's width. */
#define M 203
#define N 190
#define K 217

static double a[M * K], b[K * N], c[M * N], expected[M * N];

static void fill(double *matrix, size_t n)
{
	for (size_t i = 0; i < n; i++)
		matrix[i] = rand() / (double)RAND_MAX - 0.5;
}

static void multiply(bool transposed_a, bool transposed_b)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < K; k++)
				sum += a[transposed_a ? k * M + i : i * K + k] *
				       b[transposed_b ? j * K + k : k * N + j];
			expected[i * N + j] = 1.5 * sum - 0.5 * expected[i * N + j];
		}
}

/* 0, or 1 if an element is not what rounding can explain. */
static int check(bool transposed_a, bool transposed_b)
{
	double start, worst = 0;

	fill(a, M * K);
	fill(b, K * N);
	fill(c, M * N);
	memcpy(expected, c, sizeof(c));
	multiply(transposed_a, transposed_b);
	start = now();
	cblas_dgemm(CblasRowMajor, transposed_a ? CblasTrans : CblasNoTrans,
		    transposed_b ? CblasTrans : CblasNoTrans, M, N, K, 1.5, a, transposed_a ? M : K,
		    b, transposed_b ? K : N, -0.5, c, N);
	fprintf(stderr, "%.3f GFLOPS\n", 2e-9 * M * N * K / (now() - start));
	for (int i = 0; i < M * N; i++)
		worst = fmax(worst, fabs(c[i] - expected[i]));
	printf("A%s B%s: %s\n", transposed_a ? "'" : "", transposed_b ? "'" : "",
	       worst < 1e-12 ? "as three loops have it" : "wrong");
	return worst >= 1e-12;
}

int main(void)
{
	int wrong = 0;

	srand(1);
	for (int i = 0; i < 4; i++)
		wrong |= check(i & 1, i & 2);
	return wrong;
}
