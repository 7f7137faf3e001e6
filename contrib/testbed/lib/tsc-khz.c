/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tsc-khz: prints how fast this machine's time stamp counter runs, in kHz. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Both clocks at one moment: the shortest of some readings was not interrupted. */
static int64_t read_both(uint64_t *cycles)
{
	int64_t shortest = INT64_MAX, at = 0;

	for (int i = 0; i < 100; i++) {
		int64_t before = now(), after;
		uint64_t tsc = __rdtsc();

		after = now();
		if (after - before < shortest) {
			shortest = after - before;
			at = before + shortest / 2;
			*cycles = tsc;
		}
	}
	return at;
}

int main(void)
{
	struct timespec while_it_runs = { 0, 100000000 };
	uint64_t first, last;
	int64_t start = read_both(&first), end;

	nanosleep(&while_it_runs, NULL);
	end = read_both(&last);
	printf("%.0f\n", (last - first) * 1e6 / (end - start));
	return 0;
}
