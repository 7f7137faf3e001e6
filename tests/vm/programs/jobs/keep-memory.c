/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep-memory MEGABYTES NODE: fills small pages on a NUMA node of Linux and computes with all of
 * them until SIGTERM. Prints "ready PID" first, and at the end whether all of its data was always
 * right.
 */
#include <err.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_WORDS (4096 / sizeof(uint64_t))
#define PREFERRED 1

static volatile sig_atomic_t over;

static void end(int number)
{
	(void)number;
	over = 1;
}

static uint64_t content(size_t at, uint64_t round)
{
	return (at + 1) * 0x9e3779b97f4a7c15ULL + round;
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 10) << 20 : 0, words, wrong = 0;
	unsigned long nodes = argc == 3 ? 1UL << atoi(argv[2]) : 0;
	uint64_t *memory, round = 0;

	if (!bytes)
		errx(2, "usage: keep-memory MEGABYTES NODE");
	signal(SIGTERM, end);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE) < 0)
		err(1, "mmap");
	if (syscall(SYS_set_mempolicy, PREFERRED, &nodes, 64) < 0)
		err(1, "set_mempolicy");
	words = bytes / sizeof(*memory);
	for (size_t i = 0; i < words; i += PAGE_WORDS)
		memory[i] = content(i, round);
	syscall(SYS_set_mempolicy, 0, NULL, 0);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (; !over; round++) {
		for (size_t i = 0; i < words; i += PAGE_WORDS) {
			wrong += memory[i] != content(i, round);
			memory[i] = content(i, round + 1);
		}
		usleep(20000);
	}
	printf("%s after %s\n", wrong ? "wrong" : "right", round > 3 ? "many rounds" : "too few");
	return wrong != 0;
}
