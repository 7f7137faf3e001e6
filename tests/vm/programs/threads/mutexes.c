/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutexes [TEST]: checks the promises of mutexes that threads leave locked when they end or that
 * inherit priorities, and of the futexes behind them. Two threads at a time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"

/* The result of a thread in which all was right. */
static int done;
static atomic_int waiter, handled_by;

static void on_signal(int signal)
{
	(void)signal;
	handled_by = syscall(SYS_gettid);
}

/* ---- robust mutexes ---- */

static pthread_mutex_t robust;

static void *die_with_it(void *argument)
{
	pthread_mutex_lock(&robust);
	return argument;
}

static int robust_mutexes(void)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	CHECK(pthread_create(&thread, NULL, die_with_it, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
	return 0;
}

/* ---- mutexes that inherit priorities ---- */

static pthread_mutex_t inheriting;
static long total;

static int make_inheriting(int robustness)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutexattr_setrobust(&attributes, robustness);
	return pthread_mutex_init(&inheriting, &attributes);
}

static void *add_inheriting(void *argument)
{
	for (int i = 0; i < 2000; i++) {
		if (pthread_mutex_lock(&inheriting))
			return NULL;
		total++;
		pthread_mutex_unlock(&inheriting);
	}
	return argument;
}

/* Returns what the lock says. */
static void *lock_it(void *argument)
{
	long result;

	waiter = syscall(SYS_gettid);
	result = pthread_mutex_lock(&inheriting);
	if (!argument)
		pthread_mutex_unlock(&inheriting);
	return (void *)result;
}

static struct timespec in_ms(int ms)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += ms * 1000000L;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/* True when another thread waits for the mutex: its word says so. */
static int has_waiter(void)
{
	for (double start = now(); now() - start < 20;)
		if (__atomic_load_n(&inheriting.__data.__lock, __ATOMIC_ACQUIRE) & FUTEX_WAITERS)
			return 1;
	return 0;
}

static int inheriting_mutexes(void)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	struct timespec until;
	pthread_t thread;
	void *result;
	int error;

	CHECK((errno = make_inheriting(PTHREAD_MUTEX_STALLED)) == 0);
	total = 0;
	CHECK(pthread_create(&thread, NULL, add_inheriting, &done) == 0);
	CHECK(add_inheriting(&done) == &done);
	CHECK(pthread_join(thread, &result) == 0 && result == &done && total == 4000);

	/* A handler without SA_RESTART does not end the wait. */
	CHECK(sigaction(SIGUSR1, &action, &old) == 0);
	CHECK(pthread_mutex_lock(&inheriting) == 0);
	handled_by = 0;
	CHECK(pthread_create(&thread, NULL, lock_it, NULL) == 0 && has_waiter());
	for (int i = 0; i < 20; i++) {
		handled_by = 0;
		CHECK(pthread_kill(thread, SIGUSR1) == 0);
		while (!handled_by)
			usleep(1000);
		CHECK(handled_by == waiter);
	}
	CHECK(pthread_mutex_unlock(&inheriting) == 0);
	CHECK(pthread_join(thread, &result) == 0 && !result);
	sigaction(SIGUSR1, &old, NULL);

	/* A thread that ends with a robust one leaves it to the next. */
	CHECK(pthread_mutex_destroy(&inheriting) == 0);
	CHECK((errno = make_inheriting(PTHREAD_MUTEX_ROBUST)) == 0);
	CHECK(pthread_create(&thread, NULL, lock_it, &done) == 0);
	CHECK(pthread_join(thread, &result) == 0 && !result);
	CHECK(pthread_mutex_lock(&inheriting) == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(&inheriting) == 0);
	CHECK(pthread_mutex_unlock(&inheriting) == 0);
	CHECK(pthread_mutex_lock(&inheriting) == 0);
	CHECK(pthread_create(&thread, NULL, lock_it, NULL) == 0 && has_waiter());
	until = in_ms(100);
	error = pthread_mutex_timedlock(&inheriting, &until);
	CHECK(error == ETIMEDOUT || error == EDEADLK);
	CHECK(pthread_mutex_unlock(&inheriting) == 0);
	CHECK(pthread_join(thread, &result) == 0 && !result);
	return 0;
}

/* The thread ends with the mutex while this one waits for it. */
static void *die_before_eyes(void *argument)
{
	if (pthread_mutex_lock(&inheriting))
		return NULL;
	waiter = syscall(SYS_gettid);
	return has_waiter() ? argument : NULL;
}

static int inherited_from_dead(void)
{
	struct timespec until = in_ms(20000);
	pthread_t thread;
	void *died;

	for (int i = 0; i < 20; i++) {
		waiter = 0;
		CHECK(pthread_create(&thread, NULL, die_before_eyes, &done) == 0);
		while (!waiter)
			usleep(1000);
		CHECK(pthread_mutex_timedlock(&inheriting, &until) == EOWNERDEAD);
		CHECK(pthread_join(thread, &died) == 0 && died == &done);
		CHECK(pthread_mutex_consistent(&inheriting) == 0);
		CHECK(pthread_mutex_unlock(&inheriting) == 0);
	}
	return pthread_mutex_destroy(&inheriting);
}

/* ---- futexes as such ---- */

static int word;

static void *await_word(void *argument)
{
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) ? NULL : argument;
}

/* As on Linux, a call that wakes fewer than one thread wakes one. */
static int wake_none(void)
{
	for (int count = 0; count >= -1; count--) {
		pthread_t thread;
		void *result;
		double start = now();

		CHECK(pthread_create(&thread, NULL, await_word, &done) == 0);
		while (!syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0))
			CHECK(now() - start < 10);
		CHECK(pthread_join(thread, &result) == 0 && result == &done);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "robust_mutexes", robust_mutexes },
		{ "inheriting_mutexes", inheriting_mutexes },
		{ "inherited_from_dead", inherited_from_dead },
		{ "wake_none", wake_none },
	};

	return RUN_TESTS(tests, argc > 1 ? argv[1] : NULL);
}
