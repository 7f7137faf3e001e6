/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold-memory MB SECONDS [FILE]: takes MB megabytes of memory and computes for SECONDS, and until FILE
 * is there.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t size = argc >= 3 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	time_t end = time(NULL) + (argc >= 3 ? atoi(argv[2]) : 0);
	char *memory = size ? malloc(size) : NULL;

	if (!memory)
		errx(1, "usage: hold-memory MB SECONDS [FILE]");
	memset(memory, 1, size);
	puts("holding");
	fflush(stdout);
	while (time(NULL) < end || (argc > 3 && access(argv[3], F_OK)))
		for (size_t i = 0; i < 100000; i++)
			((volatile char *)memory)[i * 4096 % size]++;
	return 0;
}
