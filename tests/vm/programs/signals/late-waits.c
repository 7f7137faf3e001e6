/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * late-waits: a thread begins to wait for a signal while the signal is on its way to the process,
 * whose other thread blocks it, too. The signal must end the wait each time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS 1000
#define MOST_US 20000
#define LIMIT_US 60000000L

/*
 * The rounds that have begun and ended, and the time at which the signal of the present one was
 * sent.
 */
struct rounds {
	int begun, ended;
	long sent;
};

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

/*
 * The wait begins within twice the time that a signal is on its way, and so at the moment, now and
 * then, at which the other thread has looked for a thread that takes the signal and has not yet
 * left it to the process.
 */
static void *await_rounds(void *argument)
{
	struct rounds *rounds = argument;
	unsigned seed = 1;
	long way = 200;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	for (int i = 1; i <= ROUNDS; i++) {
		long pause = rand_r(&seed) % (2 * way), sent, took;

		__atomic_store_n(&rounds->begun, i, __ATOMIC_RELEASE);
		while (!(sent = __atomic_exchange_n(&rounds->sent, 0, __ATOMIC_ACQ_REL)))
			sched_yield();
		while (now_us() < sent + pause)
			;
		if (sigwaitinfo(&set, NULL) != SIGUSR1)
			return "wrong";
		took = now_us() - sent;
		if (took > pause)
			way = took < MOST_US ? took + 1 : MOST_US;
		else if (way > 1)
			way--;
		__atomic_store_n(&rounds->ended, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* False: it does not become so much within a minute. */
static int becomes(const int *count, int much)
{
	long limit = now_us() + LIMIT_US;

	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) != much) {
		if (now_us() > limit)
			return 0;
		sched_yield();
	}
	return 1;
}

static int send_rounds(struct rounds *rounds)
{
	pid_t parent = getppid();

	for (int i = 1; i <= ROUNDS; i++) {
		CHECK(becomes(&rounds->begun, i));
		__atomic_store_n(&rounds->sent, now_us(), __ATOMIC_RELEASE);
		CHECK(kill(parent, SIGUSR1) == 0);
		if (!becomes(&rounds->ended, i))
			printf("the signal of round %d has not come\n", i);
		CHECK(rounds->ended == i);
	}
	return 0;
}

/* The first thread has the signal from Linux and blocks it, when the other one begins to wait. */
int main(void)
{
	struct rounds *rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	void *wrong;
	sigset_t set;
	int status;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(rounds != MAP_FAILED);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	pid = fork();
	if (pid == 0)
		_exit(send_rounds(rounds));
	CHECK(pthread_create(&thread, NULL, await_rounds, rounds) == 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(pthread_join(thread, &wrong) == 0 && !wrong);
	puts("each signal has come");
	return 0;
}
