/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rounds NUMBER FILE: computes so many rounds, or, with 0, until FILE is there. Each round needs
 * the data of all earlier ones in memory and, by system calls, in a pipe; the sum that is printed
 * at the end differs if any data was lost.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORDS 4096

static uint64_t memory[WORDS];

static uint64_t compute(uint64_t x)
{
	for (int i = 0; i < WORDS; i++) {
		x = x * 6364136223846793005 + memory[(x >> 32) % WORDS] + i;
		memory[i] ^= x;
	}
	return x;
}

int main(int argc, char **argv)
{
	unsigned long number = argc == 3 ? strtoul(argv[1], NULL, 10) : 0, done = 0;
	uint64_t sum = 1;
	int ends[2];

	if (argc != 3 || pipe(ends))
		errx(1, "usage: rounds NUMBER FILE");
	puts("computing");
	fflush(stdout);
	while (number ? done < number : access(argv[2], F_OK) != 0) {
		sum = compute(sum);
		if (write(ends[1], &sum, sizeof(sum)) != sizeof(sum))
			err(1, "write");
		sum = 0;
		if (read(ends[0], &sum, sizeof(sum)) != sizeof(sum))
			err(1, "read");
		done++;
	}
	printf("rounds %lu sum %016lx\n", done, sum);
	return 0;
}
