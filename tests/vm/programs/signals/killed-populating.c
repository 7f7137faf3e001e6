/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * killed-populating MB: SIGKILL ends the process while a call makes MB megabytes of memory. It
 * prints how long the same takes with one 16th of it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"

static int begun;

static void *populate(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
}

static void *kill_when_begun(void *argument)
{
	while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
		;
	kill(getpid(), SIGKILL);
	return argument;
}

int main(int argc, char **argv)
{
	size_t size = argc == 2 ? atol(argv[1]) << 20 : 0;
	double start = now();
	pthread_t thread;
	void *part;

	CHECK(size > 0);
	part = populate(size / 16);
	CHECK(part != MAP_FAILED);
	printf("%.0f ms\n", (now() - start) * 1000);
	fflush(stdout);
	CHECK(munmap(part, size / 16) == 0);
	CHECK(pthread_create(&thread, NULL, kill_when_begun, NULL) == 0);
	__atomic_store_n(&begun, 1, __ATOMIC_SEQ_CST);
	populate(size);
	/* The other thread kills the process before or while populate() works. */
	for (;;)
		pause();
}
