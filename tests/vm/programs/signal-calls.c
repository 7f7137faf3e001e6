/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals to itself and from Linux: handlers, masks, interrupted and restarted calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* Handlers have the arguments that signal(7) gives them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static volatile sig_atomic_t count;
static volatile double in_handler;
static void *volatile fault_address;
static sigjmp_buf jump;

static void handler(int signal)
{
	/* The interrupted code's registers must survive this. */
	for (int i = 0; i < 8; i++)
		in_handler += signal * 1.25;
	count++;
}

static void fault(int signal, siginfo_t *info, void *context)
{
	fault_address = info->si_addr;
	siglongjmp(jump, 1);
}

static void install(int signal, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static int to_itself(void)
{
	double kept = 1.5;
	sigset_t set, pending;

	install(SIGUSR1, 0);
	CHECK(raise(SIGUSR1) == 0 && count == 1);
	CHECK(kill(getpid(), SIGUSR1) == 0 && count == 2 && kept == 1.5);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	CHECK(count == 2 && sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	CHECK(count == 3);
	signal(SIGUSR1, SIG_IGN);
	raise(SIGUSR1);
	CHECK(count == 3);
	return 0;
}

/* The proxy gets these and passes them on. */
static int from_linux(void)
{
	double sum = 0, kept = 0;
	int ends[2];
	char byte;
	time_t start;

	install(SIGALRM, 0);
	count = 0;
	alarm(1);
	CHECK(pause() == -1 && errno == EINTR && count == 1);
	alarm(1);
	CHECK(sleep(30) > 20 && count == 2);
	alarm(1);
	/* No call at all, and floating point all the time. */
	for (int i = 0; count == 2; i++) {
		sum += i * 0.5;
		kept += i * 0.5;
	}
	CHECK(count == 3 && sum == kept);
	CHECK(pipe(ends) == 0);
	alarm(1);
	CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR && count == 4);
	/* With SA_RESTART the call goes on: a second alarm, without, ends it. */
	install(SIGALRM, SA_RESTART);
	start = time(NULL);
	alarm(1);
	install(SIGVTALRM, 0);
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM };
	struct itimerspec when = { .it_value.tv_sec = 3 };

	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &when, NULL) == 0);
	CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR && count == 6);
	CHECK(time(NULL) - start >= 2);
	return 0;
}

static int faults(void)
{
	struct sigaction action = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	volatile char *volatile nowhere = (char *)8;
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(sigaltstack(&stack, NULL) == 0);
	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(jump, 1))
		*nowhere = 1;
	CHECK(fault_address == (void *)8);
	if (!sigsetjmp(jump, 1))
		*page = 1;
	CHECK(fault_address == page);
	return 0;
}

int main(void)
{
	if (to_itself() || from_linux() || faults())
		return 1;
	puts("all of it is right");
	fflush(stdout);
	abort();
}
