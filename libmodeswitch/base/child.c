// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "base/clock.h"
#include "base/signals.h"

/* A wait looks for signals this often. */
#define TICK_MS 50
/* A killed child gets this long to end. */
#define KILL_MS 10000
/* A child that holds nothing that we wait for gets this long. */
#define ALONE_MS 500

/* Waits until fd can be read or has ended. 1, or -EINTR, -ETIMEDOUT or -EAGAIN. */
static int await(int fd, const volatile int64_t *deadline, bool (*must_stop)(void))
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };

	while (poll(&poller, 1, TICK_MS) <= 0) {
		if (signal_is_pending())
			return -EINTR;
		if (clock_ms() >= *deadline)
			return -ETIMEDOUT;
		if (must_stop && must_stop())
			return -EAGAIN;
	}
	return 1;
}

/*
 * Reads what the child writes until it has ended or must be killed; drops what does not fit. 0,
 * -ETIMEDOUT or -EINTR.
 */
static int collect(int fd, int64_t deadline, char *output, size_t size, size_t *length)
{
	char chunk[512];
	int ready;

	*length = 0;
	while ((ready = await(fd, &deadline, NULL)) > 0) {
		ssize_t got = read(fd, chunk, sizeof(chunk));

		if (got == 0)
			return 0;
		if (got > (ssize_t)(size - *length))
			got = size - *length;
		if (got > 0)
			memcpy(output + *length, chunk, got);
		*length += got > 0 ? got : 0;
		if (signal_is_pending())
			return -EINTR;
		if (clock_ms() >= deadline)
			return -ETIMEDOUT;
	}
	return ready;
}

/* Forks a child that dies with us. It writes to *output, and we read that from *fd. */
static pid_t fork_child(int *fd, int *output)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(127);
		close(ends[0]);
		*output = ends[1];
		return 0;
	}
	close(ends[1]);
	*fd = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

/*
 * Waits at most wait_ms for a child to end; first kills it if 'outcome' is negative. Returns its
 * status, or -1 when the child does not end or the calling process ignores SIGCHLD.
 */
static int reap(pid_t pid, int outcome, int64_t wait_ms)
{
	int64_t give_up = clock_ms() + wait_ms;
	int status;
	pid_t got;

	if (outcome < 0)
		kill(pid, SIGKILL);
	while ((got = waitpid(pid, &status, WNOHANG)) == 0 && clock_ms() < give_up)
		usleep(1000);
	return got == pid ? status : -1;
}

/* The next call for the child. */
struct call {
	int (*work)(void *context);
	char context[CHILD_CONTEXT_MAX] __attribute__((aligned(16)));
};

static struct {
	pid_t owner; /* the worker's parent; a process forked from it has no worker */
	pid_t pid;
	int calls, results;
} worker;

static void __attribute__((noreturn)) serve(int calls, int results)
{
	struct call call;
	int result;

	while (read(calls, &call, sizeof(call)) == sizeof(call)) {
		result = call.work(call.context);
		if (write(results, &result, sizeof(result)) != sizeof(result))
			break;
	}
	_exit(0);
}

static void forget_worker(int outcome)
{
	close(worker.calls);
	close(worker.results);
	if (worker.owner == getpid())
		reap(worker.pid, outcome, KILL_MS);
	worker.pid = 0;
}

void child_end_calls(void)
{
	if (worker.pid)
		forget_worker(0);
}

/* false: errno says why there is none. */
static bool need_worker(void)
{
	int calls[2], output;

	if (worker.pid && worker.owner == getpid())
		return true;
	child_end_calls();
	if (pipe2(calls, O_CLOEXEC) < 0)
		return false;
	worker.owner = getpid();
	worker.pid = fork_child(&worker.results, &output);
	if (worker.pid == 0) {
		close(calls[1]);
		serve(calls[0], output);
	}
	close(calls[0]);
	if (worker.pid > 0) {
		worker.calls = calls[1];
		return true;
	}
	worker.pid = 0;
	close(calls[1]);
	return false;
}

int child_call(int (*work)(void *context), const void *context, size_t size, int64_t deadline)
{
	return child_call_watched(work, context, size, deadline, NULL);
}

int child_call_watched(int (*work)(void *context), const void *context, size_t size,
		       int64_t deadline, bool (*must_stop)(void))
{
	struct call call = { .work = work };
	int outcome, result;

	if (size > sizeof(call.context))
		return -E2BIG;
	memcpy(call.context, context, size);
	if (!need_worker())
		return -errno;
	if (write(worker.calls, &call, sizeof(call)) != sizeof(call))
		outcome = -ECHILD;
	else
		outcome = await(worker.results, &deadline, must_stop);
	if (outcome > 0 && read(worker.results, &result, sizeof(result)) != sizeof(result))
		outcome = -ECHILD;
	if (outcome > 0)
		return result;
	forget_worker(outcome);
	return outcome;
}

/* An entry of getdents64(2). */
struct entry {
	uint64_t inode;
	int64_t next;
	uint16_t size;
	uint8_t type;
	char name[];
};

/*
 * Closes our files from first to last, one by one. It uses no memory of malloc(3): another thread
 * may have held its lock when this process was forked. false: /proc does not tell which files are
 * open.
 */
static bool close_each(unsigned first, unsigned last)
{
	char entries[1024] __attribute__((aligned(8)));
	int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ssize_t size, at;

	if (dir < 0)
		return false;
	while ((size = syscall(SYS_getdents64, dir, entries, sizeof(entries))) > 0) {
		for (at = 0; at < size; at += ((struct entry *)(entries + at))->size) {
			const char *name = ((struct entry *)(entries + at))->name;
			unsigned fd = strtoul(name, NULL, 10);

			if (*name != '.' && fd != (unsigned)dir && fd >= first && fd <= last)
				close(fd);
		}
	}
	close(dir);
	return size == 0;
}

/* Linux has close_range(2) since 5.9, and a container may forbid it. A file must not stay open. */
static void close_files(unsigned first, unsigned last)
{
	if (syscall(__NR_close_range, first, last, 0) < 0 && !close_each(first, last))
		_exit(127);
}

/* Closes 0 to 2, too: in slurmd's steps they may be any files. */
static void close_all_but(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low > 0)
		close_files(0, low - 1);
	if (high - low > 1)
		close_files(low + 1, high - 1);
	close_files(high + 1, ~0U);
}

int child_call_alone(int (*work)(void *context), void *context, int keep, int64_t deadline)
{
	return child_call_alive(work, context, keep, &deadline);
}

int child_call_alive(int (*work)(void *context), void *context, int keep,
		     const volatile int64_t *deadline)
{
	int fd, output, outcome, result;
	pid_t pid = fork_child(&fd, &output);

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close_all_but(output, keep);
		result = work(context);
		_exit(write(output, &result, sizeof(result)) != sizeof(result));
	}
	outcome = await(fd, deadline, NULL);
	if (outcome > 0 && read(fd, &result, sizeof(result)) != sizeof(result))
		outcome = -ECHILD;
	close(fd);
	reap(pid, outcome, ALONE_MS);
	return outcome > 0 ? result : outcome;
}

void child_limit_memory(uint64_t bytes)
{
	FILE *in = fopen("/proc/self/statm", "re");
	unsigned long pages;
	struct rlimit limit;

	if (!in || fscanf(in, "%lu", &pages) != 1)
		_exit(1);
	fclose(in);
	limit.rlim_cur = limit.rlim_max = pages * sysconf(_SC_PAGESIZE) + bytes;
	if (setrlimit(RLIMIT_AS, &limit) < 0)
		_exit(1);
}

static void __attribute__((noreturn)) execute(const char *const argv[], int output)
{
	static const char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
						   NULL };
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
		_exit(127);
	close_files(3, ~0U);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execve(argv[0], (char *const *)argv, (char *const *)environment);
	dprintf(1, "%s: %s", argv[0], strerror(errno));
	_exit(127);
}

/* Does child_run(), and waits at most kill_ms for a killed program to end. */
static int run(const char *const argv[], int64_t deadline, int64_t kill_ms, char *text, size_t size)
{
	int fd, output, outcome, status;
	size_t length;
	pid_t pid = fork_child(&fd, &output);

	if (pid < 0)
		return -errno;
	if (pid == 0)
		execute(argv, output);
	outcome = collect(fd, deadline, text, size - 1, &length);
	close(fd);
	status = reap(pid, outcome, outcome < 0 ? kill_ms : KILL_MS);
	while (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	if (outcome < 0)
		return outcome;
	if (status == -1)
		return -ECHILD;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int child_run(const char *const argv[], int64_t deadline, char *text, size_t size)
{
	return run(argv, deadline, KILL_MS, text, size);
}

int child_run_alone(const char *const argv[], int64_t deadline, char *text, size_t size)
{
	return run(argv, deadline, ALONE_MS, text, size);
}

int child_detach(const char *const argv[])
{
	pid_t pid = fork();
	int null;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		/* Files are closed first, because the lock of switching may be among them. */
		close_files(3, ~0U);
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		/* The second fork makes init its parent, so that nobody here has to reap it. */
		if (null < 0 || setsid() < 0 || fork() != 0)
			_exit(0);
		execute(argv, null);
	}
	reap(pid, 0, KILL_MS);
	return 0;
}
