/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An LWK process that forks: we do too, and the child has an LWK process made for itself, which
 * the LWK makes a copy of the first. So the child has a number, a parent, a process group and an end
 * that Linux knows.
 *
 * The child tells us through a pipe whether it could: a number, once. With vfork(2) it keeps its end
 * of that until it becomes another program or ends, for the LWK process to wait for.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

/* Held while there is a pipe's end that only the child should have. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* In a child of vfork(2): its end of the pipe, or -1. */
static int parent_waits = -1;

/* 0 or -1 */
static int open_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	ends[0] = channel_keep(ends[0]);
	ends[1] = channel_keep(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			channel_drop(ends[i]);
	return -1;
}

/* The session is our own from here on. 0 or a negative errno. */
static int begin(uint64_t cpu, uint64_t number)
{
	const uint64_t copy[6] = { cpu, number };
	int error = session_renew();

	share_renew();
	maps_renew();
	timers_renew();
	if (!error)
		error = calls_renew();
	return error ? error : (int)channel_call(LWK_CALL_COPY, copy);
}

static void become_proxy(const int ends[2], uint64_t cpu, uint64_t number, bool vfork)
{
	int error;

	/* What our parent waits for, or another thread of it, is not for us to keep open. */
	channel_drop(ends[0]);
	if (parent_waits >= 0)
		channel_drop(parent_waits);
	if (own.child_waits >= 0)
		channel_drop(own.child_waits);
	parent_waits = own.child_waits = -1;
	pthread_mutex_init(&lock, NULL);

	error = begin(cpu, number);
	if (write(ends[1], &error, sizeof(error)) != sizeof(error) || error)
		_exit(EXIT_LWK);
	if (vfork)
		parent_waits = ends[1];
	else
		channel_drop(ends[1]);
	own.newborn = true;
}

/* A child that could not become one was none: nobody shall learn of its end. */
static void forget(pid_t child)
{
	struct timespec now = { 0, 0 };
	siginfo_t info = { 0 };
	sigset_t set;

	while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigtimedwait(&set, &info, &now) != SIGCHLD)
		return;
	/* It may have been another's, or both at once. */
	if (info.si_pid != child ||
	    (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid))
		syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGCHLD, &info);
}

static int64_t await(pid_t child, int end)
{
	int error;
	ssize_t n;

	while ((n = read(end, &error, sizeof(error))) < 0 && errno == EINTR)
		;
	/* If it says nothing, it was killed, and that is how it ends. */
	if (n != sizeof(error) || !error)
		return child;
	forget(child);
	return error;
}

/* With all signals blocked: in the child one could be passed on only later. */
static int64_t make_child(uint64_t cpu, uint64_t number, bool vfork)
{
	int64_t result;
	int ends[2];
	pid_t child;

	pthread_mutex_lock(&lock);
	if (open_pipe(ends)) {
		pthread_mutex_unlock(&lock);
		return -EAGAIN;
	}
	child = fork();
	if (child == 0) {
		become_proxy(ends, cpu, number, vfork);
		return 0;
	}
	result = child < 0 ? -errno : child;
	channel_drop(ends[1]);
	pthread_mutex_unlock(&lock);
	if (child > 0)
		result = await(child, ends[0]);
	if (result > 0 && vfork)
		own.child_waits = ends[0];
	else
		channel_drop(ends[0]);
	return result;
}

int64_t fork_process(uint64_t cpu, uint64_t number, bool vfork)
{
	int64_t result;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	result = make_child(cpu, number, vfork);
	signals_unblock();
	return result;
}

int64_t fork_wait(void)
{
	char byte;

	if (own.child_waits < 0)
		return 0;
	while (read(own.child_waits, &byte, 1) < 0 && errno == EINTR)
		;
	channel_drop(own.child_waits);
	own.child_waits = -1;
	return 0;
}
