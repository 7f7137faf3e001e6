// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pin-memory PIPES: pins pages until it is killed. A page that vmsplice(2) has put into a pipe can
 * be neither moved nor dropped. Each pipe has a page of a different piece of 16 MB, so that several
 * memory blocks have one.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECE (16UL << 20)

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, ends[2];

	if (n < 1)
		errx(2, "usage: pin-memory PIPES");
	for (int i = 0; i < n; i++) {
		char *piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		struct iovec page = { piece + PIECE / 2, 4096 };

		if (piece == MAP_FAILED || pipe(ends) < 0)
			err(1, "piece %d", i);
		if (vmsplice(ends[1], &page, 1, 0) != 4096)
			err(1, "vmsplice");
	}
	puts("pinned");
	fflush(stdout);
	for (;;)
		pause();
}
