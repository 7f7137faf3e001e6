// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a scenario on this host's CPUs, in place of the explorer: each thread is a thread, and time
 * passes. ThreadSanitizer looks on, or the time of a call is taken.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "explorer/explorer.h"

#define THREADS 8
/* Looks before a thread that waits for an event sleeps in Linux. */
#define LOOKS 20000
#define CALLS_AT_A_TIME 64

static struct {
	const char *name;
	void (*run)(void *argument);
	void *argument;
	bool service;
	pthread_t thread;
} threads[THREADS];
static unsigned int n_threads;
static __thread unsigned int self;
static uint64_t end_ns;
static uint64_t calls_made;
/* The time of those calls, one after the other, that nothing disturbed. */
static uint64_t least_ns = ~0UL;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

void model_broken(const char *condition, const char *file, int line)
{
	printf("not ok - %s:%d: expected %s, found that not\n", file, line, condition);
	fflush(stdout);
	_exit(1);
}

/* ---- what the explorer has, too ---- */

void *model_alloc(size_t size, size_t align)
{
	void *memory = aligned_alloc(align, (size + align - 1) / align * align);

	if (!memory)
		exit(2);
	return memset(memory, 0, size);
}

void model_name(const void *at, size_t size, const char *name)
{
}

void model_ignore(const void *at, size_t size)
{
}

void model_whole(const void *at, size_t size)
{
}

void model_first(unsigned int thread)
{
}

void model_thread(const char *name, void (*run)(void *argument), void *argument, bool service)
{
	threads[n_threads].name = name;
	threads[n_threads].run = run;
	threads[n_threads].argument = argument;
	threads[n_threads++].service = service;
}

unsigned int model_self(void)
{
	return self;
}

void model_take(uint32_t *word, uint32_t mask, uint32_t value, uint32_t keep, uint32_t add)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	unsigned int looks = 0;

	for (;;) {
		if ((old & mask) == value &&
		    __atomic_compare_exchange_n(word, &old, (old & keep) + add, false,
						__ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
			return;
		if (++looks > LOOKS)
			usleep(20);
		__builtin_ia32_pause();
		old = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	}
}

void model_post(uint32_t *word, uint32_t value)
{
	__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

void model_barrier(void)
{
	__asm__ volatile("lock; addl $0, -4(%%rsp)" ::: "memory", "cc");
}

void model_relax(void)
{
	__builtin_ia32_pause();
}

/* Waits do not end early here: the last choice is the one that waits. */
unsigned int model_choose(unsigned int n)
{
	return n - 1;
}

void model_yield(void)
{
	sched_yield();
}

void *model_memset(void *to, int byte, size_t size)
{
	return memset(to, byte, size);
}

void *model_memcpy(void *to, const void *from, size_t size)
{
	return memcpy(to, from, size);
}

uint64_t model_time_ns(void)
{
	return now_ns();
}

uint64_t model_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

bool model_more(unsigned int i, unsigned int calls)
{
	static __thread uint64_t before;
	uint64_t now, least;

	if (i % CALLS_AT_A_TIME)
		return true;
	now = now_ns();
	least = __atomic_load_n(&least_ns, __ATOMIC_SEQ_CST);
	while (i && now - before < least &&
	       !__atomic_compare_exchange_n(&least_ns, &least, now - before, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	before = now;
	if (now < end_ns)
		return true;
	__atomic_fetch_add(&calls_made, i, __ATOMIC_SEQ_CST);
	return false;
}

/* ---- two cache lines ---- */

static struct {
	uint64_t count __attribute__((aligned(128)));
} lines[2];

static void await(unsigned int line, uint64_t count)
{
	while (__atomic_load_n(&lines[line].count, __ATOMIC_ACQUIRE) < count)
		__builtin_ia32_pause();
}

static void ping(void *unused)
{
	for (uint64_t i = 0; model_more(i, 0); i++) {
		__atomic_store_n(&lines[0].count, i + 1, __ATOMIC_RELEASE);
		await(1, i + 1);
	}
}

static void pong(void *unused)
{
	for (uint64_t count = 1;; count++) {
		await(0, count);
		__atomic_store_n(&lines[1].count, count, __ATOMIC_RELEASE);
	}
}

/* ---- running ---- */

static void *begin(void *argument)
{
	cpu_set_t cpu;

	self = (unsigned long)argument;
	/* LWK CPUs and who answers them are not to be on one CPU. */
	CPU_ZERO(&cpu);
	CPU_SET(strncmp(threads[self].name, "LWK", 3) == 0, &cpu);
	pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
	threads[self].run(threads[self].argument);
	return NULL;
}

static const struct scenario *find(const char *name)
{
	for (const struct scenario *each = scenarios; each->name; each++)
		if (strcmp(each->name, name) == 0)
			return each;
	fprintf(stderr, "native: expected the name of a scenario, found '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	const struct scenario *scenario = NULL;

	if (argc != 3) {
		fprintf(stderr, "Usage: native SCENARIO|ping-pong MILLISECONDS\n");
		return 2;
	}
	if (strcmp(argv[1], "ping-pong") == 0) {
		model_thread("LWK CPU 0", ping, NULL, false);
		model_thread("other", pong, NULL, true);
	} else {
		scenario = find(argv[1]);
		scenario->prepare();
	}
	end_ns = now_ns() + strtoul(argv[2], NULL, 10) * 1000000UL;
	for (unsigned long i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i].thread, NULL, begin, (void *)i)) {
			perror("native: pthread_create");
			return 2;
		}
	for (unsigned int i = 0; i < n_threads; i++)
		if (!threads[i].service)
			pthread_join(threads[i].thread, NULL);
	if (scenario && scenario->at_end)
		scenario->at_end();
	printf("%s %lu calls, %.1f ns a call where %d were quickest\n", argv[1], calls_made,
	       least_ns / (double)CALLS_AT_A_TIME, CALLS_AT_A_TIME);
	fflush(stdout);
	/* Others still wait, and may do so for ever. */
	_exit(calls_made == 0);
}
