/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "abi/device/serve.h"
#include "abi/shared/calls.h"
#include "abi/shared/channel.h"
#include "lwkexec/base/descriptors.h"
#include "lwkexec/base/fail.h"
#include "lwkexec/instance/channel.h"
#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/linux_call.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/process/timers.h"

/* The kernel's mask of signals; libc's is longer. */
#define MASK_BYTES sizeof(uint64_t)

/*
 * The si_code of a signal that one thread of the proxy has given to another; si_errno, which is 0
 * otherwise, has the real si_code. Linux refuses to queue for another thread a signal that looks as
 * if kill(2) or the kernel had sent it.
 */
#define PASSED_CODE (-0x4c574b)

/*
 * True when the signal is for the thread and not for any of the process. Linux does not say so; the
 * LWK itself queues what the process sends to itself as a whole.
 */
static bool is_for_thread(const siginfo_t *info)
{
	switch (info->si_code) {
	case SI_TKILL:
		return true;
	case SI_USER:
		/* Linux sends these two as if by kill(2) to the thread whose write fails. */
		return (info->si_signo == SIGPIPE || info->si_signo == SIGXFSZ) &&
		       info->si_pid == getpid();
	case SI_QUEUE:
		return info->si_pid == getpid();
	case SI_TIMER:
		return timers_for_thread(info->si_timerid);
	case PASSED_CODE:
		return info->si_errno == SI_TIMER && info->si_timerid & LWK_TIMER_OF_THREAD;
	default:
		return false;
	}
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	uintptr_t rip = uc->uc_mcontext.gregs[REG_RIP];
	struct lwk_signal passed;
	int saved = errno;

	/* Only signals that libc does not block come so early; LWK_SIGNAL_GONE is one. */
	if (!own.channel)
		return;
	memcpy(&passed, info, sizeof(passed));
	passed.signal = signal;
	passed.thread = is_for_thread(info);
	if (passed.code == PASSED_CODE) {
		passed.code = passed.error;
		passed.error = 0;
	}
	if (!channel_signal(&passed))
		memset(&uc->uc_sigmask, 0xff, MASK_BYTES);
	if (rip >= (uintptr_t)interruptible_start && rip < (uintptr_t)interruptible_end)
		uc->uc_mcontext.gregs[REG_RIP] = (uintptr_t)interruptible_give_up;
	errno = saved;
}

/* A fault of the proxy itself is not passed on, because it would come again at once. */
static void pass_on_or_die(int signal, siginfo_t *info, void *context)
{
	static const char text[] =
		"lwkexec: internal error: a fault in the proxy; please report this\n";

	if (info->si_code <= 0) {
		pass_on(signal, info, context);
		return;
	}
	/* At the end the channel goes while a thread may still be making a call. */
	if (session_closed())
		for (;;)
			pause();
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_LWK);
}

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP || signal == SIGSYS;
}

/* Linux stops and continues the proxy by default, and lwkpart.ko sees that. */
static bool is_job_control(int signal)
{
	switch (signal) {
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
		return true;
	default:
		return false;
	}
}

static bool default_is_here(int signal)
{
	return is_job_control(signal) || signal == SIGCHLD || signal == SIGURG ||
	       signal == SIGWINCH;
}

/*
 * The argument of rt_sigaction(2). libc does not let programs use two of the signals, which the LWK
 * process's libc uses, too.
 */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	const void *restorer;
	uint64_t mask;
};
#define KERNEL_SA_RESTORER 0x04000000UL
#define FIRST_OF_LIBC 32
#define LAST_OF_LIBC 33
_Static_assert(LWK_SIGNAL_GONE >= FIRST_OF_LIBC && LWK_SIGNAL_GONE <= LAST_OF_LIBC,
	       "a thread that the LWK's death rouses has a handler for that");

static void pass_on_libcs(int signal)
{
	struct kernel_action new = {
		.handler = pass_on,
		.flags = SA_SIGINFO | KERNEL_SA_RESTORER,
		.restorer = signal_restorer,
		.mask = UINT64_MAX,
	};

	syscall(SYS_rt_sigaction, signal, &new, NULL, sizeof(new.mask));
}

/* Linux knows the ignored signals too, except faults, which the proxy itself must not ignore. */
static uint64_t ignored_signals;

uint64_t signals_ignored(void)
{
	return __atomic_load_n(&ignored_signals, __ATOMIC_RELAXED);
}

void signals_action(int signal, int action)
{
	struct sigaction new = { .sa_flags = SA_SIGINFO };

	if (signal < 1 || signal >= NSIG || signal == SIGKILL || signal == SIGSTOP)
		return;
	if (action & 1)
		__atomic_or_fetch(&ignored_signals, 1UL << (signal - 1), __ATOMIC_RELAXED);
	else
		__atomic_and_fetch(&ignored_signals, ~(1UL << (signal - 1)), __ATOMIC_RELAXED);
	/* No SA_RESTART: the LWK can act on the signal only when the delegated call has ended. */
	sigfillset(&new.sa_mask);
	new.sa_sigaction = is_fault(signal) ? pass_on_or_die : pass_on;
	if (!is_fault(signal) && (action == 1 || (action == 0 && default_is_here(signal)))) {
		new.sa_flags = 0;
		new.sa_handler = action == 1 ? SIG_IGN : SIG_DFL;
	}
	sigaction(signal, &new, NULL);
}

/* Queues the signal for a thread of the proxy. */
static int64_t queue(const struct lwk_signal *signal, pid_t thread)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	memcpy(&info, signal, offsetof(struct lwk_signal, thread));
	memcpy((char *)&info + offsetof(struct lwk_signal, field), signal->field,
	       sizeof(signal->field));
	return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal->signal, &info) ? -errno : 0;
}

static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
}

int64_t signals_send(const uint64_t args[6])
{
	struct lwk_signal signal;

	memcpy(&signal, args, sizeof(signal));
	if (signal.thread == (uint32_t)syscall(SYS_gettid)) {
		block_all();
	} else {
		signal.error = signal.code;
		signal.code = PASSED_CODE;
	}
	return queue(&signal, signal.thread);
}

void signals_keep(void)
{
	struct lwk_signal signals[LWK_SIGNAL_SLOTS];
	size_t n = channel_take_back(signals);

	for (size_t i = 0; i < n; i++)
		queue(&signals[i], syscall(SYS_gettid));
}

/* Signals that descriptors of signalfd(2) tell of, and those of them that this thread blocks. */
static uint64_t described;
static __thread uint64_t held;

void signals_unblock(void)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	memcpy(&blocked, &held, sizeof(held));
	if (!channel_holds_signals())
		pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void signals_renew(void)
{
	__atomic_store_n(&session.channel->described, __atomic_load_n(&described, __ATOMIC_RELAXED),
			 __ATOMIC_RELEASE);
}

int64_t signals_describe(const struct lwk_packet *request)
{
	int64_t result = descriptor_is_kept(request->args[0]) ? -EBADF : linux_call(request);
	uint64_t set;

	if (result >= 0 && copy_in(&set, request->args[1], sizeof(set)) == sizeof(set)) {
		__atomic_or_fetch(&described, set, __ATOMIC_RELAXED);
		signals_renew();
	}
	return result;
}

int64_t signals_hold(uint64_t set)
{
	held = set;
	signals_unblock();
	return 0;
}

void signals_taken(void)
{
	channel_release_signals();
	signals_unblock();
}

uint64_t signals_inherited(void)
{
	uint64_t ignored = 0;
	struct sigaction old;

	/* nohup(1) and others leave signals ignored for the program. */
	for (int s = 1; s < NSIG; s++)
		if (sigaction(s, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			ignored |= 1UL << (s - 1);
	return ignored;
}

uint64_t signals_init(uint64_t ignored)
{
	for (int s = FIRST_OF_LIBC; s <= LAST_OF_LIBC; s++)
		pass_on_libcs(s);
	for (int s = 1; s < NSIG; s++)
		signals_action(s, ignored >> (s - 1) & 1);
	return signals_ignored();
}

void signals_end(int wait_status)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;

	if (!WIFSIGNALED(wait_status))
		_exit(WEXITSTATUS(wait_status));
	/* A core of the proxy would say nothing about the program; core.c has written the program's. */
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(wait_status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(wait_status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(WTERMSIG(wait_status));
	_exit(128 + WTERMSIG(wait_status));
}
