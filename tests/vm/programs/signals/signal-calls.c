/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks handlers, masks, interrupted and restarted calls with signals of its own and of Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
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
	/* The loop makes no call at all, and uses floating point all the time. */
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

static int within_ms(unsigned ms)
{
	struct itimerval timer = { .it_value = { 0, ms * 1000 } };

	return setitimer(ITIMER_REAL, &timer, NULL);
}

/* The program waits for signals instead of handling them, and blocked ones end no other call. */
static int awaited(void)
{
	struct timespec none = { 0, 0 }, bad = { 0, -1 }, some = { 0, 200000000 };
	siginfo_t info = { 0 };
	sigset_t set, old;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGCHLD);
	CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0);
	CHECK(sigtimedwait(&set, &info, &none) == -1 && errno == EAGAIN);
	CHECK(sigtimedwait(&set, &info, &bad) == -1 && errno == EINVAL);
	CHECK(sigtimedwait((sigset_t *)8, &info, &none) == -1 && errno == EFAULT);
	CHECK(kill(getpid(), SIGUSR1) == 0);
	CHECK(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_signo == SIGUSR1);
	CHECK(info.si_pid == getpid() && info.si_code == SI_USER);
	CHECK(within_ms(50) == 0 && sigwaitinfo(&set, NULL) == SIGALRM);
	CHECK(within_ms(50) == 0 && nanosleep(&some, NULL) == 0);
	CHECK(sigtimedwait(&set, NULL, &none) == SIGALRM);
	/* Ignored by default, and waited for all the same. */
	if (fork() == 0)
		_exit(3);
	CHECK(nanosleep(&some, NULL) == 0);
	CHECK(sigwaitinfo(&set, NULL) == SIGCHLD);
	CHECK(wait(&status) > 0 && WEXITSTATUS(status) == 3);
	/* The signal is not blocked only while the program waits. */
	install(SIGALRM, SA_RESTART);
	count = 0;
	CHECK(within_ms(50) == 0 && ppoll(NULL, 0, NULL, &old) == -1 && errno == EINTR);
	CHECK(count == 1 && sigprocmask(SIG_BLOCK, NULL, &set) == 0 && sigismember(&set, SIGALRM));
	CHECK(kill(getpid(), SIGALRM) == 0 && count == 1);
	CHECK(pselect(0, NULL, NULL, NULL, NULL, &old) == -1 && errno == EINTR && count == 2);
	CHECK(ppoll(NULL, 0, &none, &old) == 0 && sigprocmask(SIG_BLOCK, NULL, &set) == 0);
	CHECK(sigismember(&set, SIGALRM));
	/* A signal with a handler comes first. */
	sigdelset(&set, SIGALRM);
	CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
	install(SIGALRM, SA_RESTART);
	count = 0;
	CHECK(within_ms(50) == 0 && sigwaitinfo(&set, NULL) == -1 && errno == EINTR && count == 1);
	return 0;
}

static volatile sig_atomic_t in_vdso;

static void look_where(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);

	count++;
	if ((unsigned long)uc->uc_mcontext.gregs[REG_RIP] - vdso < 4096)
		in_vdso++;
}

/* The program goes on where a signal has interrupted it, also in the code that tells the time. */
static int in_clock(void)
{
	struct sigaction action = { .sa_sigaction = look_where, .sa_flags = SA_SIGINFO };
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	struct timespec time;

	sigaction(SIGALRM, &action, NULL);
	count = 0;
	CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
	while (in_vdso < 5 && count < 2000)
		CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
	CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
	CHECK(in_vdso >= 5);
	return 0;
}

static volatile unsigned short handlers_control;
static volatile unsigned int handlers_mxcsr;

static void look_at_fpu(int signal)
{
	unsigned short control;
	unsigned int mxcsr;

	__asm__ volatile("fnstcw %0; stmxcsr %1" : "=m"(control), "=m"(mxcsr));
	handlers_control = control;
	handlers_mxcsr = mxcsr;
}

/* A handler's floating-point state is a new one, and the program gets its own back. */
static int fresh_fpu(void)
{
	struct sigaction action = { .sa_handler = look_at_fpu };
	/* These round down, and division by zero is an exception. */
	const unsigned short control = (0x37f & ~4) | 0x400, usual_control = 0x37f;
	const unsigned int mxcsr = (0x1f80 & ~0x200) | 0x2000, usual_mxcsr = 0x1f80;
	unsigned short after_control;
	unsigned int after_mxcsr;

	CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
	__asm__ volatile("fldcw %0; ldmxcsr %1" ::"m"(control), "m"(mxcsr));
	raise(SIGUSR2);
	__asm__ volatile("fnstcw %0; stmxcsr %1" : "=m"(after_control), "=m"(after_mxcsr));
	__asm__ volatile("fldcw %0; ldmxcsr %1" ::"m"(usual_control), "m"(usual_mxcsr));
	CHECK(handlers_control == usual_control && handlers_mxcsr == usual_mxcsr);
	CHECK(after_control == control && (after_mxcsr & ~0x3f) == mxcsr);
	return 0;
}

int main(void)
{
	if (to_itself() || from_linux() || faults() || awaited() || in_clock() || fresh_fpu())
		return 1;
	puts("all of it is right");
	fflush(stdout);
	abort();
}
