/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * secret leave MB: fills MB megabytes of memory; secret look MB: counts such bytes in MB new megabytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char *argv[])
{
	size_t size = argc == 3 ? strtoul(argv[2], NULL, 10) << 20 : 0, found = 0;
	unsigned char *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 2;
	if (strcmp(argv[1], "leave") == 0) {
		memset(memory, 0x5e, size);
		/* The compiler must not find out that nobody reads the memory. */
		printf("left %zu MB of %#x\n", size >> 20,
		       ((volatile unsigned char *)memory)[size / 2]);
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		found += memory[i] != 0;
	printf("found %zu bytes in %zu MB\n", found, size >> 20);
	return found ? 1 : 0;
}
