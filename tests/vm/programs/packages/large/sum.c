/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Something for a compiler to do, with the headers of the C library. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	double values[5000], sum = 0;

	for (int i = 0; i < 5000; i++)
		values[i] = sin(i) * 1000;
	qsort(values, 5000, sizeof(values[0]), by_value);
	for (int i = 0; i < 5000; i++)
		sum += values[i] * i;
	printf("%.3f\n", sum);
	return 0;
}
