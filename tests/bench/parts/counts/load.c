// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counts-load PATH TIMES: takes a path of the kernel TIMES times between two marks (mark.h), after it
 * has taken it some times for caches. "run" is a path whose program and arguments follow; it is
 * taken once for caches. On a machine without the plugin it does the same, and nobody counts.
 */
#define _GNU_SOURCE
#include "mark.h"

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARMING_UP 100
#define PAGE 4096UL
#define BATCH 32

static int file;
static char *pages;
static const char *self;
static char **command;

static void call_nothing(long i)
{
	(void)i;
}

static void call_getpid(long i)
{
	(void)i;
	syscall(SYS_getpid);
}

/* The bytes read have a cache line of their own, and the program looks at them. */
static void call_read(long i)
{
	static char line[64] __attribute__((aligned(64)));

	(void)i;
	if (read(file, line, 1) != 1 || *(volatile char *)line != 0)
		err(1, "read");
}

/* Single bytes of one line. */
static void call_batch(long i)
{
	static char line[64] __attribute__((aligned(64)));
	static struct iovec vector[BATCH];

	for (int byte = 0; byte < BATCH; byte++)
		vector[byte] = (struct iovec){ line + byte, 1 };
	(void)i;
	if (readv(file, vector, BATCH) != BATCH || *(volatile char *)line != 0)
		err(1, "readv");
}

/* Every second page has a mapping of its own, so that none is a part of a larger page. */
static void make_pages(long n)
{
	pages = mmap(NULL, 2 * PAGE * n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		err(1, "mmap");
	for (long i = 0; i < n; i++) {
		if (mprotect(pages + 2 * PAGE * i, PAGE, PROT_READ | PROT_WRITE) < 0)
			err(1, "mprotect");
	}
}

static void call_fault(long i)
{
	*(volatile char *)(pages + 2 * PAGE * i) = 1;
}

/* The call itself, which programs make seldom: they have the vDSO. */
static void call_clock(long i)
{
	struct timespec now;

	(void)i;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

static void run_program(const char *program, char *const arguments[])
{
	pid_t child = vfork();
	int status;

	if (child == 0) {
		execvp(program, arguments);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		errx(1, "expected a child that runs %s and ends well, found none", program);
}

static void call_spawn(long i)
{
	char *arguments[] = { (char *)self, (char *)"exit", (char *)"0", NULL };

	(void)i;
	run_program(self, arguments);
}

static void call_run(long i)
{
	(void)i;
	run_program(command[0], command);
}

/* QEMU begins to count at the end of a piece of code. */
static void arm(void)
{
	for (int i = 0; i < 10; i++)
		syscall(SYS_getpid);
}

/* A mark's label is in its instruction. */
#define RUN(label, call) RUN_WARM(label, call, WARMING_UP)
#define RUN_WARM(label, call, warming_up)                                                          \
	do {                                                                                       \
		MARK(MARK_ARM, label);                                                             \
		arm();                                                                             \
		for (; i < (warming_up); i++)                                                      \
			call(i);                                                                   \
		MARK(MARK_BEGIN, label);                                                           \
		for (; i < (warming_up) + times; i++)                                              \
			call(i);                                                                   \
		MARK(MARK_END, label);                                                             \
		MARK(MARK_DISARM, label);                                                          \
	} while (0)

int main(int argc, char **argv)
{
	const char *path = argc >= 3 ? argv[1] : "";
	long times = argc >= 3 ? atol(argv[2]) : 0, i = 0;

	self = "/proc/self/exe";
	file = open("/dev/zero", O_RDONLY);
	if (strcmp(path, "nothing") == 0)
		RUN(1, call_nothing);
	else if (strcmp(path, "getpid") == 0)
		RUN(2, call_getpid);
	else if (strcmp(path, "read") == 0)
		RUN(3, call_read);
	else if (strcmp(path, "batch") == 0)
		RUN(6, call_batch);
	else if (strcmp(path, "fault") == 0) {
		make_pages(WARMING_UP + times);
		RUN(4, call_fault);
	} else if (strcmp(path, "spawn") == 0)
		RUN(5, call_spawn);
	else if (strcmp(path, "clock") == 0)
		RUN(7, call_clock);
	else if (strcmp(path, "run") == 0 && argc > 3) {
		command = argv + 3;
		RUN_WARM(8, call_run, 1);
	} else if (strcmp(path, "exit") != 0)
		errx(2,
		     "usage: counts-load nothing|getpid|clock|read|batch|fault|spawn TIMES, or counts-load run TIMES PROGRAM...");
	return 0;
}
