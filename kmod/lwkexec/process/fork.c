/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/shared/calls.h"
#include "lwkexec/base/descriptors.h"
#include "lwkexec/base/fail.h"
#include "lwkexec/instance/channel.h"
#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/process/limits.h"
#include "lwkexec/process/share.h"
#include "lwkexec/process/signals.h"
#include "lwkexec/process/timers.h"
#include "lwkexec/program/mapped_files.h"

/*
 * Through a pipe the child tells its parent once whether it could begin: 0 or a negative errno.
 * With vfork(2) the child keeps its end open until it becomes another program or ends.
 *
 * The lock is held while the parent has an end that only this child should have.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* In a child of a vfork(2): its end of the pipe, else -1. */
static int parent_waits = -1;

/*
 * The child of a vfork(2) that has a copy of its parent's memory gives words back through the pipe
 * that it has changed just above the parent's stack pointer, where posix_spawn(3) waits for an
 * error.
 */
#define WORDS (4096 / sizeof(uint32_t))
struct word {
	uint64_t address;
	uint32_t value, reserved;
};
static struct {
	uint64_t address;
	size_t n; /* 0: the memory is the parent's own, or no parent waits */
	uint32_t at[WORDS];
} watched;

static void watch(uint64_t stack)
{
	watched.address = stack & ~(sizeof(uint32_t) - 1);
	watched.n =
		stack ? copy_in(watched.at, watched.address, sizeof(watched.at)) / sizeof(uint32_t)
		      : 0;
}

/* A parent that has been killed leaves no signal behind. */
static void give_back(const struct word *words, size_t n)
{
	struct timespec now = { 0, 0 };
	sigset_t set;

	if (write(parent_waits, words, n * sizeof(*words)) >= 0)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigtimedwait(&set, NULL, &now);
}

void fork_return(void)
{
	struct word words[WORDS];
	uint32_t now[WORDS];
	size_t n = 0, changed = 0;

	if (watched.n)
		n = copy_in(now, watched.address, watched.n * sizeof(now[0])) / sizeof(now[0]);
	for (size_t i = 0; i < n; i++) {
		if (now[i] != watched.at[i])
			words[changed++] =
				(struct word){ .address = watched.address + i * sizeof(now[0]),
					       .value = now[i] };
		watched.at[i] = now[i];
	}
	if (changed)
		give_back(words, changed);
}

/* Returns 0 or -1. */
static int open_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	ends[0] = descriptor_keep(ends[0]);
	ends[1] = descriptor_keep(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			descriptor_drop(ends[i]);
	return -1;
}

/* Gives the child a session of its own and a copy of the LWK process. */
static int begin(uint64_t slot, uint64_t number)
{
	const uint64_t copy[6] = { slot, number };
	int error = session_renew();

	share_renew();
	if (!error) {
		limits_apply();
		signals_renew();
	}
	mapped_files_renew();
	timers_renew();
	if (!error)
		error = copy_renew();
	return error ? error : (int)channel_call(LWK_CALL_COPY, copy);
}

static void become_proxy(const int ends[2], uint64_t slot, uint64_t number, bool vfork,
			 uint64_t stack)
{
	int error;

	/*
	 * The parent, and its other threads, wait for the end of pipes that the child has
	 * inherited.
	 */
	descriptor_drop(ends[0]);
	if (parent_waits >= 0)
		descriptor_drop(parent_waits);
	if (own.child_waits >= 0)
		descriptor_drop(own.child_waits);
	parent_waits = own.child_waits = -1;
	pthread_mutex_init(&lock, NULL);

	error = begin(slot, number);
	watch(error || !vfork ? 0 : stack);
	if (write(ends[1], &error, sizeof(error)) != sizeof(error) || error)
		_exit(EXIT_LWK);
	if (vfork)
		parent_waits = ends[1];
	else
		descriptor_drop(ends[1]);
	own.newborn = true;
}

/* Reaps a child that could not begin and takes back its SIGCHLD, so that nobody learns of it. */
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
	/* The signal may have been for another child, or for both at once. */
	if (info.si_pid != child ||
	    (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid))
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGCHLD, &info);
}

static int64_t await(pid_t child, int end)
{
	int error;
	ssize_t n;

	while ((n = read(end, &error, sizeof(error))) < 0 && errno == EINTR)
		;
	/* A child that says nothing was killed, and its parent learns so from wait(2). */
	if (n != sizeof(error) || !error)
		return child;
	forget(child);
	return error;
}

/* All signals must be blocked: the child cannot pass one on before it has its channel. */
static int64_t make_child(uint64_t slot, uint64_t number, bool vfork, uint64_t stack)
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
		become_proxy(ends, slot, number, vfork, stack);
		return 0;
	}
	result = child < 0 ? -errno : child;
	descriptor_drop(ends[1]);
	pthread_mutex_unlock(&lock);
	if (child > 0)
		result = await(child, ends[0]);
	if (result > 0 && vfork)
		own.child_waits = ends[0];
	else
		descriptor_drop(ends[0]);
	return result;
}

int64_t fork_process(uint64_t slot, uint64_t number, bool vfork, uint64_t stack)
{
	int64_t result;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	result = make_child(slot, number, vfork, stack);
	signals_unblock();
	return result;
}

int64_t fork_wait(void)
{
	struct word word;
	ssize_t n;

	if (own.child_waits < 0)
		return 0;
	while ((n = read(own.child_waits, &word, sizeof(word))) > 0 || (n < 0 && errno == EINTR))
		if (n == sizeof(word))
			copy_out(word.address, &word.value, sizeof(word.value));
	descriptor_drop(own.child_waits);
	own.child_waits = -1;
	return 0;
}
