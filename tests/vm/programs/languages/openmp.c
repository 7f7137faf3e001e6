/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints how many threads OpenMP starts and sums up over all of them. */
#include <omp.h>
#include <stdio.h>

#define N 1000000

static double numbers[N];

int main(void)
{
	int threads = 0;
	double sum = 0;

	for (int round = 0; round < 20; round++) {
#pragma omp parallel
		{
#pragma omp single
			threads = omp_get_num_threads();
#pragma omp for schedule(dynamic, 1000)
			for (int i = 0; i < N; i++)
				numbers[i] = i;
#pragma omp for reduction(+ : sum)
			for (int i = 0; i < N; i++)
				sum += numbers[i];
		}
	}
	printf("%d threads of %d, sum %g\n", threads, omp_get_num_procs(), sum);
	return sum != 20.0 * N * (N - 1.0) / 2;
}
