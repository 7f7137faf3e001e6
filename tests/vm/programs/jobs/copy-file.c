/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy-file FILE: writes a megabyte to FILE, reads it back and compares. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (1 << 20)

int main(int argc, char **argv)
{
	unsigned char *wrote = malloc(SIZE), *read = malloc(SIZE);
	FILE *file;

	if (argc < 2 || !wrote || !read)
		errx(1, "usage: copy-file FILE");
	for (int i = 0; i < SIZE; i++)
		wrote[i] = i * 2654435761U >> 24;
	file = fopen(argv[1], "w+");
	if (!file)
		err(1, "%s", argv[1]);
	if (fwrite(wrote, 1, SIZE, file) != SIZE || fseek(file, 0, SEEK_SET) ||
	    fread(read, 1, SIZE, file) != SIZE || fclose(file))
		err(1, "%s", argv[1]);
	if (memcmp(wrote, read, SIZE))
		errx(1, "%s: other bytes than were written", argv[1]);
	puts("same");
	return 0;
}
