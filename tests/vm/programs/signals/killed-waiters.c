/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * killed-waiters N: N threads wait with a signal that they block, so that the LWK passes it on to
 * another thread, when SIGKILL ends the process. Its first thread, which ends last, looks for
 * waiters to wake all the time.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static unsigned waiting, word, other_word;
static pid_t tids[64];
static int n;

__attribute__((noreturn)) static void *wait_blocking(void *argument)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	*(pid_t *)argument = syscall(SYS_gettid);
	__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
	for (;;)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL);
}

/* Linux lets a thread queue such a signal for another, and it is for any thread of the process. */
static void *signal_and_kill(void *argument)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_MESGQ;
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < n; i++)
			syscall(SYS_rt_tgsigqueueinfo, getpid(), tids[i], SIGRTMIN + 1, &info);
	kill(getpid(), SIGKILL);
	return argument;
}

static void ignore(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = ignore };
	pthread_t thread;

	n = argc == 2 ? atoi(argv[1]) : 0;
	CHECK(n > 0 && n <= 64);
	sigaction(SIGRTMIN + 1, &action, NULL);
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&thread, NULL, wait_blocking, &tids[i]) == 0);
	while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < (unsigned)n)
		usleep(1000);
	CHECK(pthread_create(&thread, NULL, signal_and_kill, NULL) == 0);
	for (;;)
		syscall(SYS_futex, &other_word, FUTEX_WAKE_PRIVATE, 1);
}
