/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set-ac call|fault GO FILE: sets its flag AC, with which a kernel could touch a program's memory by
 * mistake, and spins until the first byte of the file GO is not 0. Then it waits in the kernel: for
 * SIGUSR1, by a call that touches no memory of its own, or for a page that is mapped of FILE. Prints
 * "spins" before, and "over" afterwards.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

/* Code of a compiler's need not be aligned, for which a program with AC gets SIGBUS. */
#define WITH_AC(code)                                                                              \
	"leaq -128(%%rsp), %%rsp\n\t"                                                              \
	"pushfq\n\t"                                                                               \
	"orl $0x40000, (%%rsp)\n\t"                                                                \
	"popfq\n"                                                                                  \
	"1:	pause\n\t"                                                                             \
	"cmpb $0, (%[go])\n\t"                                                                     \
	"je 1b\n\t" code "\n\t"                                                                    \
	"pushfq\n\t"                                                                               \
	"andl $~0x40000, (%%rsp)\n\t"                                                              \
	"popfq\n\t"                                                                                \
	"leaq 128(%%rsp), %%rsp"

static void pause_with_ac(const char *go)
{
	long result = SYS_pause;

	__asm__ volatile(WITH_AC("syscall")
			 : "+a"(result)
			 : [go] "r"(go)
			 : "rcx", "r11", "cc", "memory");
}

static void touch_with_ac(const char *go, const char *page)
{
	long result = 0;

	__asm__ volatile(WITH_AC("movb (%[page]), %b[byte]")
			 : [byte] "+a"(result)
			 : [go] "r"(go), [page] "r"(page)
			 : "cc", "memory");
}

static void do_nothing(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	volatile const char *go;
	const char *page;
	int files[2];

	CHECK(argc == 4 && signal(SIGUSR1, do_nothing) != SIG_ERR);
	for (int i = 0; i < 2; i++) {
		files[i] = open(argv[2 + i], O_RDONLY | O_CLOEXEC);
		CHECK(files[i] >= 0);
	}
	go = mmap(NULL, 4096, PROT_READ, MAP_SHARED, files[0], 0);
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, files[1], 0);
	CHECK(go != MAP_FAILED && page != MAP_FAILED && *go == 0);
	puts("spins");
	fflush(stdout);
	if (strcmp(argv[1], "call") == 0)
		pause_with_ac((const char *)go);
	else
		touch_with_ac((const char *)go, page);
	puts("over");
	return 0;
}
