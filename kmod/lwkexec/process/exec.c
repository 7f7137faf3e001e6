/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lwkexec/base/descriptors.h"
#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/report.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/process/fork.h"
#include "lwkexec/process/limits.h"
#include "lwkexec/process/signals.h"
#include "lwkexec/program/program.h"
#include "lwkexec/view/self.h"

/* The arguments: this, the state, the report's text, the path, then the program's own. */
#define RESUME "lwkexec: another program"
#define OWN_ARGUMENTS 4
#define STATE_FORMAT "%d:%u:%d:%lx:%lx:%d:%lx:%lx"
/* Linux takes fewer strings, whatever the limit of the stack is. */
#define MAX_STRINGS (1U << 20)
#define WORDS_AT_ONCE 512

bool exec_resumes(int argc, char **argv, struct resume *resume)
{
	int stack;

	if (argc <= OWN_ARGUMENTS || strcmp(argv[0], RESUME) != 0 ||
	    sscanf(argv[1], STATE_FORMAT, &resume->device, &resume->serve, &stack, &resume->blocked,
		   &resume->ignored, &resume->report_file, &resume->address_space.rlim_cur,
		   &resume->address_space.rlim_max) != 8)
		return false;
	resume->no_stack_limit = stack;
	resume->report = argv[2];
	resume->path = argv[3];
	resume->argv = argv + OWN_ARGUMENTS;
	return true;
}

/* An array of pointers that ends with NULL; all but the first few point into the LWK process. */
struct strings {
	char **at;
	size_t n;	 /* without the NULL */
	size_t capacity; /* elements that have room in 'at' */
};

static int add(struct strings *strings, char *string)
{
	if (strings->n == strings->capacity) {
		size_t capacity = strings->capacity ? 2 * strings->capacity : 64;
		char **at = reallocarray(strings->at, capacity, sizeof(*at));

		if (!at)
			return -ENOMEM;
		strings->at = at;
		strings->capacity = capacity;
	}
	if (strings->n > MAX_STRINGS)
		return -E2BIG;
	strings->at[strings->n] = string;
	strings->n += string != NULL;
	return 0;
}

/* Adds the pointers of the array at 'address' and the NULL; 0 stands for an empty array. */
static int add_all(struct strings *strings, uint64_t address)
{
	uint64_t words[WORDS_AT_ONCE];
	int error = 0;

	for (bool end = !address; !end && !error;) {
		size_t n = copy_in(words, address, sizeof(words)) / sizeof(words[0]);

		if (!n)
			return -EFAULT;
		for (size_t i = 0; i < n && !end && !error; i++) {
			end = !words[i];
			if (!end)
				error = add(strings, (char *)words[i]);
		}
		address += n * sizeof(words[0]);
	}
	return error ? error : add(strings, NULL);
}

static int read_path(uint64_t address, char path[PATH_MAX])
{
	size_t n = copy_in(path, address, PATH_MAX);

	if (memchr(path, '\0', n))
		return 0;
	return n == PATH_MAX ? -ENAMETOOLONG : -EFAULT;
}

/* Finds the file that execveat(2) would run, as a path that holds after it; the caller frees it. */
static int find(int directory, const char *path, int flags, char **found)
{
	const char *self = self_exe(path);
	char *from = NULL;
	struct stat st;
	int error = 0;

	if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	if (!*path && !(flags & AT_EMPTY_PATH))
		return -ENOENT;
	if (flags & AT_SYMLINK_NOFOLLOW && fstatat(directory, path, &st, flags) == 0 &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	if (self || *path == '/' || (directory == AT_FDCWD && *path)) {
		*found = strdup(self ? self : path);
		return *found ? 0 : -ENOMEM;
	}
	if (directory == AT_FDCWD)
		return -EACCES;
	if (fcntl(directory, F_GETFD) < 0 || descriptor_is_kept(directory))
		return -EBADF;
	/* The exec may close the descriptor. */
	if (asprintf(&from, "/proc/self/fd/%d%s%s", directory, *path ? "/" : "", path) < 0)
		return -ENOMEM;
	*found = realpath(from, NULL);
	if (!*found)
		error = -errno;
	free(from);
	return error;
}

/* Returns an error if it is known already that the file cannot be run. */
static int check(char *path)
{
	char *argv[] = { path, NULL };
	struct program program;
	int error = program_open(&program, path, path, argv);

	program_close(&program);
	return error;
}

/* ---- the exec; everything done for it is undone when it fails ---- */

static void keep_open(bool open)
{
	const int files[] = { session.device, report_file() };

	for (size_t i = 0; i < 2; i++)
		if (files[i] >= 0)
			fcntl(files[i], F_SETFD, open ? 0 : FD_CLOEXEC);
}

/*
 * With an unlimited stack Linux would map lwkexec where the window must be. True: the stack was
 * unlimited, and *old is its limit.
 */
static bool limit_stack(struct rlimit *old)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, old) || old->rlim_cur != RLIM_INFINITY)
		return false;
	limit = *old;
	limit.rlim_cur = 8UL << 20;
	return setrlimit(RLIMIT_STACK, &limit) == 0;
}

static int change(struct strings *argv, char **envp, uint64_t blocked)
{
	sigset_t all;
	struct rlimit old_limit;
	bool no_limit;
	char state[128];
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	/* The new lwkexec gets them from Linux. */
	signals_keep();
	fork_return();
	no_limit = limit_stack(&old_limit);
	keep_open(true);
	snprintf(state, sizeof(state), STATE_FORMAT, session.device, session.serve, no_limit,
		 blocked, signals_ignored(), report_file(), limits_now().rlim_cur,
		 limits_now().rlim_max);
	argv->at[1] = state;
	execve("/proc/self/exe", argv->at, envp);
	error = -errno;
	keep_open(false);
	if (no_limit)
		setrlimit(RLIMIT_STACK, &old_limit);
	return error;
}

static int run(char *path, uint64_t argv_address, uint64_t envp_address, uint64_t blocked)
{
	const char *report = report_text();
	char *const ours[OWN_ARGUMENTS] = { RESUME, "", (char *)(report ? report : ""), path };
	struct strings argv = { 0 }, envp = { 0 };
	int error = 0;

	for (size_t i = 0; i < OWN_ARGUMENTS && !error; i++)
		error = add(&argv, ours[i]);
	if (!error)
		error = add_all(&argv, argv_address);
	/* As on Linux, a program has at least one argument. */
	if (!error && argv.n == OWN_ARGUMENTS) {
		error = add(&argv, "");
		if (!error)
			error = add(&argv, NULL);
	}
	if (!error)
		error = add_all(&envp, envp_address);
	if (!error)
		error = change(&argv, envp.at, blocked);
	free(argv.at);
	free(envp.at);
	return error;
}

int64_t exec_program(const uint64_t args[6])
{
	char given[PATH_MAX], *path = NULL;
	int error = read_path(args[1], given);

	if (!error)
		error = find(args[0], given, args[4], &path);
	if (!error)
		error = check(path);
	if (!error)
		error = run(path, args[2], args[3], args[5]);
	free(path);
	signals_unblock();
	return error;
}
