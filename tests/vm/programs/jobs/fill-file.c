/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fill-file FILE MB: writes MB megabytes to FILE. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (1 << 20)

int main(int argc, char **argv)
{
	char *block = malloc(SIZE);
	FILE *file;

	if (argc < 3 || !block)
		errx(1, "usage: fill-file FILE MB");
	memset(block, 'x', SIZE);
	file = fopen(argv[1], "w");
	if (!file)
		err(1, "%s", argv[1]);
	for (int i = 0; i < atoi(argv[2]); i++) {
		if (fwrite(block, 1, SIZE, file) != SIZE)
			err(1, "%s", argv[1]);
	}
	if (fclose(file))
		err(1, "%s", argv[1]);
	printf("wrote %s MB\n", argv[2]);
	return 0;
}
