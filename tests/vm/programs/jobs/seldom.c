/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seldom SECONDS MICROSECONDS: makes a delegated call, computes for so many microseconds, and so on. Says when it
 * begins, and at the end how many calls it has made.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	int file = open("/dev/zero", O_RDONLY);
	long long end, next, us;
	long calls = 0;
	char byte;

	if (argc != 3 || (us = atoll(argv[2])) < 1)
		errx(1, "usage: seldom SECONDS MICROSECONDS");
	puts("begins");
	fflush(stdout);
	for (end = now_us() + atoll(argv[1]) * 1000000; now_us() < end; calls++) {
		if (read(file, &byte, 1) != 1)
			err(1, "/dev/zero");
		for (next = now_us() + us; now_us() < next;)
			;
	}
	printf("calls %ld\n", calls);
	return 0;
}
