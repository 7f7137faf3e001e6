/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops, a reduction, tasks and a critical section of OpenMP. Prints nothing that depends on their
 * order.
 */
#include <omp.h>
#include <stdio.h>

static long fibonacci(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a) if (n > 8)
	a = fibonacci(n - 1);
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

int main(void)
{
	long sum = 0, entered = 0, number = 0;
	int threads = 0;

#pragma omp parallel
	{
#pragma omp single
		threads = omp_get_num_threads();
#pragma omp for schedule(dynamic, 100) reduction(+ : sum)
		for (int i = 0; i < 100000; i++)
			sum += i;
#pragma omp critical
		entered++;
#pragma omp barrier
#pragma omp single
		number = fibonacci(16);
	}
	printf("%d threads, %ld entered, sum %ld, fibonacci %ld\n", threads, entered, sum, number);
	return 0;
}
