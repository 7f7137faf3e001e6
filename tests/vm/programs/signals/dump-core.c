/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dump-core [WORD]: dies by SIGSEGV in write_down(), which look_up() calls, while another thread
 * waits in stand_still(), which has a call of Linux under way in the proxy, and a third one
 * computes. With 'abort' it dies by abort() there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A debugger shows their contents. */
struct record {
	int number;
	double half;
	char name[16];
};
static struct record *record;
static volatile atomic_int begun;
static __thread int of_thread;

static __attribute__((noinline)) void stand_still(int from)
{
	char byte;

	atomic_fetch_add(&begun, 1);
	if (read(from, &byte, 1) < 0)
		perror("read");
}

static __attribute__((noinline)) void compute(void)
{
	for (atomic_fetch_add(&begun, 1);; of_thread++)
		__asm__ volatile("" ::: "memory");
}

static void *wait_for_byte(void *ends)
{
	of_thread = 17;
	stand_still(*(int *)ends);
	return NULL;
}

static void *spin(void *nothing)
{
	compute();
	return nothing;
}

static __attribute__((noinline)) void write_down(volatile int *where, const char *how, double half)
{
	while (atomic_load(&begun) < 2)
		;
	if (strcmp(how, "abort") == 0)
		abort();
	__asm__ volatile("movsd %1, %%xmm15; movl $1, (%0)" ::"r"(where), "m"(half)
			 : "memory", "xmm15");
}

static __attribute__((noinline)) int look_up(const char *how, double half)
{
	write_down((int *)0x1230, how, half);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int ends[2];

	record = malloc(sizeof(*record));
	if (!record || pipe(ends) || pthread_create(&threads[0], NULL, wait_for_byte, ends) ||
	    pthread_create(&threads[1], NULL, spin, NULL))
		return 1;
	*record = (struct record){ 4711, 0.5, "from the heap" };
	of_thread = 42;
	return look_up(argc > 1 ? argv[1] : "", record->half);
}
