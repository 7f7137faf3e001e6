/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin-threads N: prints a line when N threads compute, which they do until they are killed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int running;

static void *spin(void *argument)
{
	for (running++;;)
		__asm__ volatile("" ::: "memory");
	return argument;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread;

	for (int i = 1; i < n; i++)
		if (pthread_create(&thread, NULL, spin, NULL))
			return 1;
	while (running < n - 1)
		;
	puts("all of them");
	fflush(stdout);
	spin(NULL);
}
