/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes for half a second, most of it in hot(); the build compiles it with -pg. */
#include <time.h>

__attribute__((noinline)) void hot(volatile long *sum)
{
	for (long i = 0; i < 1000000; i++)
		*sum += i;
}

int main(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 2;
	volatile long sum = 0;

	while (clock() < end)
		hot(&sum);
	return 0;
}
