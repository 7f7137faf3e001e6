// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * first-touch-load MB|all: touches each 4 KB of so much new memory, or of all that is free. Prints
 * MB, and the milliseconds that it took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <time.h>

/* Memory for the program itself, and for data in pages of another size. */
#define SPARE_MB 12

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static unsigned long free_mb(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : info.freeram * info.mem_unit >> 20;
}

int main(int argc, char **argv)
{
	unsigned long mb = 0;
	volatile char *memory;
	double start;

	if (argc == 2)
		mb = strcmp(argv[1], "all") == 0 ? free_mb() - SPARE_MB : strtoul(argv[1], NULL, 0);
	if (!mb || mb > 1UL << 30)
		return 2;
	start = now_ms();
	memory = mmap(NULL, mb << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	for (unsigned long at = 0; at < mb << 20; at += 4096)
		memory[at] = 1;
	printf("%lu %.2f\n", mb, now_ms() - start);
	return 0;
}
