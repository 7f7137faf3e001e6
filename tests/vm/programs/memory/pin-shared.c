/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pin-shared MB [FILE]: shares so much memory and writes to each page of it; prints "shared" and
 * waits until FILE is there. With 0 it calls clone(2) with a flag that the LWK does not have, over
 * and over, about each of which the LWK prints a line.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static int clone_in_vain(void)
{
	for (unsigned i = 0; i < 2000; i++)
		CHECK(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == -1);
	return 0;
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	int file = memfd_create("pin-shared", 0);
	char *memory;

	if (!size)
		return clone_in_vain();
	CHECK(file >= 0 && ftruncate(file, size) == 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(memory != MAP_FAILED);
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	puts("shared");
	fflush(stdout);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(100000);
	return 0;
}
