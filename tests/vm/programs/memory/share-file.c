/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share-file FILE PAGES: maps a file shared and writes to so many of its pages, none of which is the
 * neighbour of another; prints "shared" and waits for a signal.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define DISTANCE (16 * 4096UL)

int main(int argc, char **argv)
{
	size_t size = argc == 3 ? strtoul(argv[2], NULL, 10) * DISTANCE : 0;
	int file = open(argv[1], O_RDWR | O_CREAT, 0600);
	char *memory;

	CHECK(size && file >= 0 && ftruncate(file, size) == 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(memory != MAP_FAILED);
	for (size_t at = 0; at < size; at += DISTANCE)
		memory[at] = 1;
	puts("shared");
	fflush(stdout);
	pause();
	return 0;
}
