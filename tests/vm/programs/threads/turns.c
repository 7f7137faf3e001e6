/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * turns N: checks that N threads besides the first, which look at memory again and again, have
 * turns on the CPUs that they share. On Linux all of it holds, too, but for "undisturbed".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "lwk-fact.h"

#define MOST 64

static int n_threads;
static pthread_t threads[MOST];
static atomic_int holder, over;

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static int start_all(void *(*function)(void *))
{
	over = 0;
	for (int i = 0; i < n_threads; i++)
		CHECK((errno = pthread_create(&threads[i], NULL, function, (void *)(intptr_t)i)) ==
		      0);
	return 0;
}

/* Each thread returns its argument when all was right. */
static int join_all(void)
{
	over = 1;
	for (int i = 0; i < n_threads; i++) {
		void *result;

		CHECK(pthread_join(threads[i], &result) == 0);
		CHECK(result == (void *)(intptr_t)i);
	}
	return 0;
}

/* ---- a token goes round, and no thread waits in a call ---- */

#define ROUNDS 5

static void *pass_on(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		while (holder % n_threads != (intptr_t)argument)
			;
		holder++;
	}
	return argument;
}

static int token(void)
{
	CHECK(!start_all(pass_on) && !join_all());
	CHECK(holder == ROUNDS * n_threads);
	return 0;
}

/* ---- registers and fairness ---- */

/* Adds up in eight registers of each kind, so that a lost one shows, and counts the rounds. */
static void *add_up(void *argument)
{
	double start = (intptr_t)argument + 0.5, sums[8];
	unsigned long rounds = 0, numbers[4];

	for (int i = 0; i < 8; i++)
		sums[i] = start * (i + 1);
	for (int i = 0; i < 4; i++)
		numbers[i] = (intptr_t)argument + i;
	while (!over) {
		for (int i = 0; i < 1000; i++)
			__asm__ volatile(""
					 : "+x"(sums[0]), "+x"(sums[1]), "+x"(sums[2]),
					   "+x"(sums[3]), "+x"(sums[4]), "+x"(sums[5]),
					   "+x"(sums[6]), "+x"(sums[7]), "+r"(numbers[0]),
					   "+r"(numbers[1]), "+r"(numbers[2]), "+r"(numbers[3]));
		rounds++;
	}
	for (int i = 0; i < 8; i++)
		if (sums[i] != start * (i + 1))
			return NULL;
	for (int i = 0; i < 4; i++)
		if (numbers[i] != (unsigned long)(intptr_t)argument + i)
			return NULL;
	return rounds ? argument : NULL;
}

static int registers(void)
{
	CHECK(!start_all(add_up));
	usleep(300000);
	return join_all();
}

static double used[MOST];

static void *use_time(void *argument)
{
	while (!over)
		;
	used[(intptr_t)argument] = seconds(CLOCK_THREAD_CPUTIME_ID);
	return argument;
}

/* No thread has much more than its share; Linux and the machine's load have some say in it. */
static int fair(void)
{
	double most = 0, least = 1e9;

	CHECK(!start_all(use_time));
	usleep(1000000);
	CHECK(!join_all());
	for (int i = 0; i < n_threads; i++) {
		most = used[i] > most ? used[i] : most;
		least = used[i] < least ? used[i] : least;
	}
	if (least * 8 < most)
		printf("%.3f s to %.3f s\n", least, most);
	CHECK(least > 0 && least * 8 >= most);
	return 0;
}

/* ---- who waits is woken while others compute ---- */

static sem_t asked, answered, never;

static void *answer(void *argument)
{
	for (;;) {
		sem_wait(&asked);
		if (over)
			return argument;
		sem_post(&answered);
	}
}

static int wakes(void)
{
	struct timespec time = { 0, 10000000 }, end;
	pthread_t other;
	double start;

	CHECK(!sem_init(&asked, 0, 0) && !sem_init(&answered, 0, 0) && !sem_init(&never, 0, 0));
	CHECK(!start_all(use_time) && pthread_create(&other, NULL, answer, NULL) == 0);
	start = seconds(CLOCK_MONOTONIC);
	for (int i = 0; i < 10; i++) {
		/* by another thread, by Linux, and by a time limit */
		CHECK(!sem_post(&asked) && !sem_wait(&answered) && !nanosleep(&time, NULL));
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_nsec += 10000000;
		if (end.tv_nsec >= 1000000000) {
			end.tv_sec++;
			end.tv_nsec -= 1000000000;
		}
		CHECK(sem_timedwait(&never, &end) == -1 && errno == ETIMEDOUT);
	}
	/* Each wait takes some turns of the others. */
	CHECK(seconds(CLOCK_MONOTONIC) - start < 20);
	over = 1;
	sem_post(&asked);
	CHECK(pthread_join(other, NULL) == 0);
	return join_all();
}

/* ---- signals and mappings come between any two instructions ---- */

static atomic_int handled;

static void on_signal(int signal)
{
	(void)signal;
	handled++;
}

static int signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	CHECK(!sigaction(SIGUSR1, &action, NULL) && !start_all(add_up));
	for (int i = 0; i < 5 * n_threads; i++) {
		int before = handled;

		CHECK(pthread_kill(threads[i % n_threads], SIGUSR1) == 0);
		while (handled == before)
			;
	}
	return join_all();
}

static char *shown;

/* A reader sees the byte of the mapping that is shown, or the zero of a new page. */
static void *look(void *argument)
{
	while (!over) {
		char seen = *(volatile char *)shown;

		if (seen && seen != 'x')
			return NULL;
	}
	return argument;
}

static int mappings(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	shown = page;
	CHECK(!start_all(look));
	for (int i = 0; i < 50; i++) {
		CHECK(mmap(page, 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page);
		*page = 'x';
		CHECK(mprotect(page, 4096, PROT_READ) == 0);
	}
	return join_all();
}

/* ---- a thread that computes alone has no tick ---- */

/* The reading itself may disturb a little, a tick would more than fifty times. */
static int undisturbed(void)
{
	long long before = lwk_fact("disturbances"), after;
	double start = seconds(CLOCK_MONOTONIC);

	while (seconds(CLOCK_MONOTONIC) - start < 0.5)
		;
	after = lwk_fact("disturbances");
	if (after - before > 2)
		printf("%lld disturbances\n", after - before);
	CHECK(after - before <= 2);
	return 0;
}

static const struct test tests[] = {
	{ "token", token },
	{ "registers", registers },
	{ "fair", fair },
	{ "wakes", wakes },
	{ "signals", signals },
	{ "mappings", mappings },
	{ "undisturbed", undisturbed },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	n_threads = argc > 1 ? atoi(argv[1]) : 0;
	if (n_threads < 1 || n_threads > MOST)
		return 2;
	return RUN_TESTS(tests, argc > 2 ? argv[2] : NULL);
}
