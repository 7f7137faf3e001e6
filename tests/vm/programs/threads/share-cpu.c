/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share-cpu N: checks what N threads besides the first may expect when they share CPUs. Linux
 * promises the same, but for "alone": there a thread that computes is interrupted. share-cpu N
 * endless: starts threads until there can be no more. share-cpu N hold: prints "all wait", and
 * waits for its end, with one of its threads at work.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "lwk-fact.h"

#define MOST 64
/* No machine has so many threads. */
#define NO_END 100000

static int n_threads;
static pthread_t threads[MOST];

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static int start_all(void *(*function)(void *))
{
	for (int i = 0; i < n_threads; i++)
		CHECK((errno = pthread_create(&threads[i], NULL, function, (void *)(intptr_t)i)) ==
		      0);
	return 0;
}

/* Each thread returns its argument when all was right. */
static int join_all(void)
{
	for (int i = 0; i < n_threads; i++) {
		void *result;

		CHECK(pthread_join(threads[i], &result) == 0);
		CHECK(result == (void *)(intptr_t)i);
	}
	return 0;
}

/* ---- a token goes round ---- */

#define ROUNDS 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns[MOST];
static int holder, passed;

static void *pass_on(void *argument)
{
	int own = (intptr_t)argument;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		while (holder != own)
			pthread_cond_wait(&turns[own], &lock);
		holder = (own + 1) % n_threads;
		passed++;
		pthread_cond_signal(&turns[holder]);
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

static int token(void)
{
	for (int i = 0; i < n_threads; i++)
		pthread_cond_init(&turns[i], NULL);
	CHECK(!start_all(pass_on) && !join_all());
	CHECK(passed == ROUNDS * n_threads);
	return 0;
}

/* ---- what a thread has, it has when it goes on ---- */

static __thread long own_number;

/* sched_yield() while the numbers are in registers. */
static void yield_with(double numbers[8])
{
	long call = SYS_sched_yield;

	__asm__ volatile("syscall"
			 : "+a"(call), "+x"(numbers[0]), "+x"(numbers[1]), "+x"(numbers[2]),
			   "+x"(numbers[3]), "+x"(numbers[4]), "+x"(numbers[5]), "+x"(numbers[6]),
			   "+x"(numbers[7])
			 :
			 : "rcx", "r11", "memory");
}

static void *keep(void *argument)
{
	static const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	int own = (intptr_t)argument, mode = modes[own % 4];
	volatile double number = own + 0.5;
	double sums[8] = { 0 };

	own_number = own;
	fesetround(mode);
	for (int i = 0; i < 1000; i++) {
		for (int j = 0; j < 8; j++)
			sums[j] += number * (j + 1);
		yield_with(sums);
		if (own_number != own || fegetround() != mode)
			return NULL;
	}
	for (int j = 0; j < 8; j++)
		if (sums[j] != 1000 * (own + 0.5) * (j + 1))
			return NULL;
	return argument;
}

static int registers(void)
{
	CHECK(!start_all(keep) && !join_all());
	return 0;
}

/* ---- all kinds of waits at once ---- */

static int ends[2];
static sem_t semaphore, never;
static pthread_barrier_t barrier;
static atomic_int waiting;

static int wait_somehow(int how)
{
	struct timespec second = { .tv_sec = 1 };
	struct pollfd wanted = { .fd = ends[0], .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	char byte;
	int epoll;

	switch (how % 6) {
	case 0:
		return read(ends[0], &byte, 1) == 1 && byte == 'x';
	case 1:
		return sem_wait(&semaphore) == 0;
	case 2:
		return nanosleep(&second, NULL) == 0;
	case 3:
		return poll(&wanted, 1, -1) == 1 && read(ends[0], &byte, 1) == 1;
	case 4:
		epoll = epoll_create1(0);
		return epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0 &&
		       epoll_wait(epoll, &event, 1, -1) == 1 && read(ends[0], &byte, 1) == 1 &&
		       close(epoll) == 0;
	default:
		clock_gettime(CLOCK_REALTIME, &second);
		second.tv_sec += 1;
		return sem_timedwait(&never, &second) == -1 && errno == ETIMEDOUT;
	}
}

static void *wait_for_it(void *argument)
{
	waiting++;
	return wait_somehow((intptr_t)argument) ? argument : NULL;
}

static int all_waits(void)
{
	double start = seconds(CLOCK_MONOTONIC);

	CHECK(pipe(ends) == 0 && sem_init(&semaphore, 0, 0) == 0 && sem_init(&never, 0, 0) == 0);
	waiting = 0;
	CHECK(!start_all(wait_for_it));
	while (waiting < n_threads)
		sched_yield();
	for (int i = 0; i < n_threads; i++) {
		CHECK(write(ends[1], "x", 1) == 1);
		sem_post(&semaphore);
	}
	CHECK(!join_all());
	CHECK(n_threads < 3 || seconds(CLOCK_MONOTONIC) - start >= 0.99);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

/* The threads sleep at the same time, not one after the other. */
static void *nap(void *argument)
{
	struct timespec half = { .tv_nsec = 500000000 };

	for (int i = 0; i < 4; i++)
		nanosleep(&half, NULL);
	return argument;
}

static int naps(void)
{
	double start = seconds(CLOCK_MONOTONIC), took;

	CHECK(!start_all(nap) && !join_all());
	took = seconds(CLOCK_MONOTONIC) - start;
	CHECK(took >= 1.99 && (n_threads < 8 || took < 2.0 * n_threads));
	return 0;
}

/* ---- who computes is left alone, and what others wait for is not lost ---- */

static void *read_late(void *argument)
{
	/*
	 * The page is not there yet: the proxy must ask the CPU for it while another thread
	 * computes.
	 */
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	waiting++;
	return page != MAP_FAILED && read(ends[0], page, 1) == 1 && *page == 'x' ? argument : NULL;
}

static void compute(double how_long)
{
	double start = seconds(CLOCK_MONOTONIC);

	while (seconds(CLOCK_MONOTONIC) - start < how_long)
		;
}

static int late_pages(void)
{
	CHECK(pipe(ends) == 0);
	waiting = 0;
	CHECK(!start_all(read_late));
	while (waiting < n_threads)
		sched_yield();
	usleep(100000);
	for (int i = 0; i < n_threads; i++)
		CHECK(write(ends[1], "x", 1) == 1);
	compute(0.5);
	CHECK(!join_all());
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void *wait_quietly(void *argument)
{
	waiting++;
	pthread_barrier_wait(&barrier);
	return argument;
}

/* A doorbell for what the CPU had found already may come late, but not each time. */
static int is_left_alone(void)
{
	for (int i = 0; i < 10; i++) {
		long long before = lwk_fact("disturbances");

		compute(0.2);
		if (lwk_fact("disturbances") == before)
			return 0;
	}
	CHECK(!"left alone");
	return 1;
}

static int alone(void)
{
	pthread_barrier_init(&barrier, NULL, n_threads + 1);
	waiting = 0;
	CHECK(!start_all(wait_quietly));
	while (waiting < n_threads)
		sched_yield();
	usleep(100000);
	CHECK(!is_left_alone());
	pthread_barrier_wait(&barrier);
	return join_all();
}

/* ---- signals find their thread ---- */

static atomic_int handled_by, handled;
static atomic_int tids[MOST];

static void on_signal(int signal)
{
	(void)signal;
	handled_by = syscall(SYS_gettid);
	handled++;
}

static void *wait_with_handler(void *argument)
{
	int own = (intptr_t)argument;
	struct timespec long_time = { .tv_sec = 1000 };
	sigset_t none;
	char byte;

	tids[own] = syscall(SYS_gettid);
	waiting++;
	errno = 0;
	sigemptyset(&none);
	if (own % 3 == 0)
		return read(ends[0], &byte, 1) == -1 && errno == EINTR ? argument : NULL;
	if (own % 3 == 1)
		return nanosleep(&long_time, NULL) == -1 && errno == EINTR ? argument : NULL;
	return sigsuspend(&none) == -1 && errno == EINTR ? argument : NULL;
}

static int signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t set, old;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && pipe(ends) == 0);
	waiting = 0;
	CHECK(!start_all(wait_with_handler));
	while (waiting < n_threads)
		sched_yield();
	usleep(200000);
	/* We do nothing but look: the signal itself gives the thread its turn. */
	for (int i = 0; i < n_threads; i++) {
		handled_by = 0;
		CHECK(pthread_kill(threads[i], SIGUSR1) == 0);
		while (!handled_by)
			;
		CHECK(handled_by == tids[i]);
	}
	CHECK(handled == n_threads && !join_all());

	/* A signal for the process finds the one thread that does not block it. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	waiting = 0;
	CHECK(pthread_create(&threads[0], NULL, wait_with_handler, (void *)2) == 0);
	while (!waiting)
		sched_yield();
	usleep(100000);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	handled_by = 0;
	CHECK(kill(getpid(), SIGUSR1) == 0 && pthread_join(threads[0], NULL) == 0);
	CHECK(handled_by == tids[2]);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

/* ---- memory ---- */

static void *map_and_unmap(void *argument)
{
	for (int i = 0; i < 60; i++) {
		size_t bytes = 4096 * (1 + i * 7 % 40);
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED || memory[0] || memory[bytes - 1])
			return NULL;
		memory[0] = memory[bytes - 1] = (intptr_t)argument;
		/* Linux sees the page, so that others go on while it is taken back. */
		if (write(ends[1], memory, 1) != 1 || memory[bytes - 1] != (char)(intptr_t)argument)
			return NULL;
		if (munmap(memory, bytes))
			return NULL;
	}
	return argument;
}

static void *empty_pipe(void *argument)
{
	char bytes[256];

	while (read(ends[0], bytes, sizeof(bytes)) > 0)
		;
	return argument;
}

static int memory(void)
{
	pthread_t reader;

	CHECK(pipe(ends) == 0);
	CHECK(pthread_create(&reader, NULL, empty_pipe, NULL) == 0);
	CHECK(!start_all(map_and_unmap) && !join_all());
	close(ends[1]);
	CHECK(pthread_join(reader, NULL) == 0);
	close(ends[0]);
	return 0;
}

/* ---- time ---- */

static void *work(void *argument)
{
	compute(0.05);
	return argument;
}

/* A thread uses no CPU time while it is another one's turn. */
static int time_used(void)
{
	double wall = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
	double own = seconds(CLOCK_THREAD_CPUTIME_ID);
	cpu_set_t cpus;

	CHECK(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
	CHECK(!start_all(work) && !join_all());
	own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
	used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	CHECK(own >= 0 && used >= own);
	CHECK(used <= wall * CPU_COUNT(&cpus) * 1.01 + 0.01);
	return 0;
}

/* ---- how many there can be ---- */

static void *wait_for_last(void *argument)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return argument;
}

static int endless(void)
{
	static pthread_t many[NO_END];
	int n = 0;

	pthread_mutex_lock(&lock);
	while (n < NO_END && !(errno = pthread_create(&many[n], NULL, wait_for_last, NULL)))
		n++;
	CHECK(errno == EAGAIN && n > n_threads);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		CHECK(pthread_join(many[i], NULL) == 0);
	/* New threads can have the slots of those that ended. */
	CHECK(!token());
	printf("%d threads\n", n);
	return 0;
}

static void *wait_for_ever(void *argument)
{
	char byte;

	waiting++;
	if ((intptr_t)argument % 2)
		pthread_mutex_lock(&lock);
	else if (read(ends[0], &byte, 1))
		pause();
	return NULL;
}

static int hold(void)
{
	pthread_mutex_lock(&lock);
	CHECK(pipe(ends) == 0 && !start_all(wait_for_ever));
	while (waiting < n_threads)
		sched_yield();
	puts("all wait");
	fflush(stdout);
	for (;;)
		*(volatile int *)&holder;
}

static const struct test tests[] = {
	{ "token", token },	{ "registers", registers },   { "all_waits", all_waits },
	{ "naps", naps },	{ "late_pages", late_pages }, { "alone", alone },
	{ "signals", signals }, { "memory", memory },	      { "time_used", time_used },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	n_threads = argc > 1 ? atoi(argv[1]) : 0;
	if (n_threads < 1 || n_threads > MOST)
		return 2;
	if (argc > 2 && strcmp(argv[2], "endless") == 0)
		return endless();
	if (argc > 2 && strcmp(argv[2], "hold") == 0)
		return hold();
	return RUN_TESTS(tests, argc > 2 ? argv[2] : NULL);
}
