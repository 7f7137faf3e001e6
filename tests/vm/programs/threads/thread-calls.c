/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread-calls N: checks the promises of pthreads with at most N threads at a time, counting the
 * first. On the LWK N is the number of its CPUs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"

#define MOST 64
#define PAGE 4096UL

static int n_threads;

/* ---- threads come and go ---- */

static __thread int own_value = 7;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *add(void *argument)
{
	if (own_value != 7)
		return NULL;
	own_value = (intptr_t)argument;
	for (int i = 0; i < 10000; i++) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
	}
	return own_value == (intptr_t)argument ? argument : NULL;
}

static int come_and_go(void)
{
	pthread_t threads[MOST];

	for (int round = 0; round < 20; round++) {
		total = 0;
		for (int i = 1; i < n_threads; i++)
			CHECK((errno = pthread_create(&threads[i], NULL, add,
						      (void *)(intptr_t)i)) == 0);
		for (int i = 1; i < n_threads; i++) {
			void *result;

			CHECK(pthread_join(threads[i], &result) == 0);
			CHECK(result == (void *)(intptr_t)i);
		}
		CHECK(total == 10000L * (n_threads - 1));
	}
	return 0;
}

/* ---- all of them at once ---- */

static pthread_barrier_t barrier;
static atomic_int tids[MOST];

static void *meet(void *argument)
{
	tids[(intptr_t)argument] = syscall(SYS_gettid);
	for (int i = 0; i < 100; i++)
		pthread_barrier_wait(&barrier);
	return NULL;
}

static int all_meet(void)
{
	pthread_t threads[MOST];
	cpu_set_t cpus;

	CHECK(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
	CHECK(CPU_COUNT(&cpus) >= n_threads);
	pthread_barrier_init(&barrier, NULL, n_threads);
	for (int i = 1; i < n_threads; i++)
		CHECK((errno = pthread_create(&threads[i], NULL, meet, (void *)(intptr_t)i)) == 0);
	for (int i = 0; i < 100; i++)
		pthread_barrier_wait(&barrier);
	for (int i = 1; i < n_threads; i++) {
		pthread_join(threads[i], NULL);
		CHECK(tids[i] > 0 && tids[i] != getpid());
		for (int j = 1; j < i; j++)
			CHECK(tids[i] != tids[j]);
	}
	CHECK(syscall(SYS_gettid) == getpid());
	return 0;
}

/* ---- waits ---- */

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void *ping(void *argument)
{
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&lock);
		while (turn != 1)
			pthread_cond_wait(&condition, &lock);
		turn = 0;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

static int waits(void)
{
	struct timespec until;
	pthread_t thread;
	double start;

	CHECK(pthread_create(&thread, NULL, ping, NULL) == 0);
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&lock);
		turn = 1;
		pthread_cond_broadcast(&condition);
		while (turn != 0)
			pthread_cond_wait(&condition, &lock);
		pthread_mutex_unlock(&lock);
	}
	CHECK(pthread_join(thread, NULL) == 0);

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 300000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	start = now();
	pthread_mutex_lock(&lock);
	CHECK(pthread_cond_timedwait(&condition, &lock, &until) == ETIMEDOUT);
	pthread_mutex_unlock(&lock);
	CHECK(now() - start > 0.29 && now() - start < 10);
	return 0;
}

/* ---- calls that wait in Linux, signals, cancellation ---- */

static int ends[2];
static atomic_int handled_by;

static void *read_one(void *argument)
{
	char byte;

	tids[1] = syscall(SYS_gettid);
	return read(ends[0], &byte, 1) == 1 && byte == 'x' ? argument : NULL;
}

static void on_signal(int signal)
{
	(void)signal;
	handled_by = syscall(SYS_gettid);
}

static void *spin(void *argument)
{
	tids[1] = syscall(SYS_gettid);
	while (!handled_by)
		;
	return argument;
}

static void unlock(void *mutex)
{
	pthread_mutex_unlock(mutex);
}

static void *wait_for_ever(void *argument)
{
	pthread_mutex_lock(&lock);
	tids[1] = syscall(SYS_gettid);
	pthread_cleanup_push(unlock, &lock);
	for (;;)
		pthread_cond_wait(&condition, &lock);
	pthread_cleanup_pop(0);
	return argument;
}

static int delegated_and_signalled(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread;
	void *result;
	sigset_t set;

	CHECK(pipe(ends) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	/* One thread waits in Linux, another one calls there. */
	tids[1] = 0;
	CHECK(pthread_create(&thread, NULL, read_one, &lock) == 0);
	while (!tids[1])
		usleep(1000);
	usleep(100000);
	CHECK(pthread_kill(thread, SIGUSR1) == 0);
	while (!handled_by)
		usleep(1000);
	CHECK(handled_by == tids[1]);
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK(pthread_join(thread, &result) == 0 && result == &lock);

	/* This thread never makes a call. */
	handled_by = tids[1] = 0;
	CHECK(pthread_create(&thread, NULL, spin, &lock) == 0);
	while (!tids[1])
		;
	CHECK(pthread_kill(thread, SIGUSR1) == 0 && pthread_join(thread, NULL) == 0);
	CHECK(handled_by == tids[1]);

	/* A signal for the process goes to a thread that does not block it. */
	handled_by = tids[1] = 0;
	CHECK(pthread_create(&thread, NULL, spin, &lock) == 0);
	while (!tids[1])
		;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	CHECK(kill(getpid(), SIGUSR1) == 0 && pthread_join(thread, NULL) == 0);
	CHECK(handled_by == tids[1]);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);

	tids[1] = 0;
	CHECK(pthread_create(&thread, NULL, read_one, &lock) == 0);
	while (!tids[1])
		usleep(1000);
	CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
	tids[1] = 0;
	CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
	while (!tids[1])
		usleep(1000);
	CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
	CHECK(result == PTHREAD_CANCELED && pthread_mutex_trylock(&lock) == 0);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* ---- signals of a thread's own writes ---- */

static void *write_to_nobody(void *argument)
{
	struct timespec none = { 0, 0 };
	int broken[2];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) || pipe(broken) || close(broken[0]))
		return NULL;
	for (int i = 0; i < 10; i++)
		if (write(broken[1], "x", 1) != -1 || errno != EPIPE ||
		    sigtimedwait(&set, NULL, &none) != SIGPIPE)
			return NULL;
	close(broken[1]);
	return argument;
}

/* SIGPIPE is for the thread that writes, which waits for it; the others would die of it. */
static int own_writes(void)
{
	pthread_t thread;
	void *result;

	CHECK(pthread_create(&thread, NULL, write_to_nobody, &lock) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == &lock);
	return 0;
}

/* ---- memory that several use ---- */

static volatile char *shared;
static __thread sigjmp_buf back;
static atomic_int faults;

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* Writes until the call fails. */
static void *write_until_fault(void *argument)
{
	atomic_int *started = argument;

	if (sigsetjmp(back, 1) == 0) {
		for (;;) {
			shared[0]++;
			shared[PAGE]++;
			*started = 1;
		}
	}
	faults++;
	return NULL;
}

static int protection_reaches_all(void)
{
	struct sigaction action = { .sa_handler = on_fault }, old;

	CHECK(sigaction(SIGSEGV, &action, &old) == 0);
	for (int round = 0; round < 20; round++) {
		pthread_t thread;
		atomic_int started = 0;
		char value;

		shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
		CHECK(shared != MAP_FAILED);
		CHECK(pthread_create(&thread, NULL, write_until_fault, &started) == 0);
		while (!started)
			;
		/* Linux has seen the page too, every second time. */
		if (round % 2)
			CHECK(write(ends[1], (char *)shared, 1) == 1);
		CHECK(mprotect((char *)shared, PAGE, PROT_READ) == 0);
		value = shared[0];
		usleep(1000);
		CHECK(shared[0] == value);
		CHECK(pthread_join(thread, NULL) == 0 && faults == round + 1);
		CHECK(munmap((char *)shared, 4 * PAGE) == 0);
	}
	sigaction(SIGSEGV, &old, NULL);
	return 0;
}

/* Every thread maps, touches, shows to Linux, moves and unmaps, and finds only its own bytes. */
static void *churn(void *argument)
{
	unsigned seed = (intptr_t)argument;
	int file = memfd_create("churn", 0);

	for (int i = 0; i < 300; i++) {
		size_t pages = 1 + rand_r(&seed) % 600, at = rand_r(&seed) % pages;
		char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void *block = malloc(rand_r(&seed) % 300000);

		if (memory == MAP_FAILED || memory[at * PAGE])
			return NULL;
		memory[at * PAGE] = memory[0] = (intptr_t)argument;
		if (pwrite(file, memory + at * PAGE, 1, 0) != 1 || !block)
			return NULL;
		if (i % 3 == 0) {
			memory = mremap(memory, pages * PAGE, (pages + 5) * PAGE, MREMAP_MAYMOVE);
			if (memory == MAP_FAILED)
				return NULL;
			pages += 5;
		}
		if (memory[at * PAGE] != (intptr_t)argument || memory[0] != (intptr_t)argument)
			return NULL;
		if (i % 5 == 0 && (madvise(memory, PAGE, MADV_DONTNEED) || (at && memory[0])))
			return NULL;
		free(block);
		munmap(memory, pages * PAGE);
	}
	close(file);
	return argument;
}

static int all_churn(void)
{
	pthread_t threads[MOST];

	for (int i = 1; i < n_threads; i++)
		CHECK(pthread_create(&threads[i], NULL, churn, (void *)(intptr_t)i) == 0);
	CHECK(churn((void *)100) == (void *)100);
	for (int i = 1; i < n_threads; i++) {
		void *result;

		CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)(intptr_t)i);
	}
	return 0;
}

/* ---- the end ---- */

static void *end_all(void *argument)
{
	usleep(100000);
	puts("all of it is right");
	exit(argument != NULL);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	n_threads = argc > 1 ? atoi(argv[1]) : 0;
	if (n_threads < 2 || n_threads > MOST)
		return 2;
	if (come_and_go() || all_meet() || waits() || delegated_and_signalled() || own_writes() ||
	    protection_reaches_all() || all_churn())
		return 1;
	/* Threads that compute and wait end with the process, and the first may end before. */
	handled_by = 0;
	if (n_threads > 2)
		pthread_create(&thread, NULL, spin, NULL);
	pthread_create(&thread, NULL, end_all, NULL);
	pthread_exit(NULL);
}
