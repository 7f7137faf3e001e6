// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t thread_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_us(void)
{
	return clock_ns() / 1000;
}

int64_t clock_ms(void)
{
	return clock_us() / 1000;
}
