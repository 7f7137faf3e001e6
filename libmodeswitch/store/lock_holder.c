// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A lock belongs to an open file, which children inherit. /proc/locks names the process that took
 * the lock, but that may have ended before a child that waits for Linux, and its number may be an
 * unrelated process's now. So the processes' open files tell who has the lock.
 */
#include "store/lock_holder.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "base/files.h"
#include "base/process.h"
#include "modeswitch/error.h"
#include "store/state.h"

/*
 * Looks for a line of the lock in a file of /proc, where it follows 'prefix'. Returns the process that
 * took it; 0: there is no such line. Lines of those who wait have an arrow before the kind.
 */
static pid_t find_lock(const char *path, const char *prefix, const struct stat *lock)
{
	FILE *file = fopen(path, "re");
	unsigned major_number, minor_number;
	size_t length = strlen(prefix);
	unsigned long inode;
	pid_t pid, taker = 0;
	char line[256];
	bool begins = true; /* 'line' is no rest of a longer one */

	while (file && fgets(line, sizeof(line), file)) {
		if (begins && strncmp(line, prefix, length) == 0 &&
		    sscanf(line + length, "%*u: FLOCK %*s WRITE %d %x:%x:%lu ", &pid, &major_number,
			   &minor_number, &inode) == 4 &&
		    inode == lock->st_ino && makedev(major_number, minor_number) == lock->st_dev)
			taker = pid;
		begins = strchr(line, '\n');
	}
	if (file)
		fclose(file);
	return taker;
}

/*
 * Linux prints names that users chose about files without a path, such as an io_uring, and a program of
 * root's that a user starts inherits such files.
 */
static bool has_path(pid_t pid, const char *fd)
{
	char link[64 + NAME_MAX], first;

	snprintf(link, sizeof(link), "/proc/%d/fd/%s", pid, fd);
	return readlink(link, &first, 1) == 1 && first == '/';
}

/* Only root can open the lock. */
static bool has_lock(pid_t pid, const struct stat *lock)
{
	char path[64], file[sizeof(path) + NAME_MAX + 1];
	struct dirent *entry;
	bool has = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = process_runs_as(pid, geteuid()) ? opendir(path) : NULL;
	while (dir && !has && (entry = readdir(dir))) {
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		has = has_path(pid, entry->d_name) && find_lock(file, "lock:", lock) != 0;
	}
	if (dir)
		closedir(dir);
	return has;
}

pid_t lock_holder(void)
{
	DIR *dir = opendir("/proc");
	char path[PATH_MAX];
	struct dirent *entry;
	struct stat lock;
	pid_t holder = 0, pid;

	snprintf(path, sizeof(path), "%s/lock", state_dir);
	if (dir && lstat(path, &lock) == 0)
		holder = find_lock("/proc/locks", "", &lock);
	if (holder && !has_lock(holder, &lock)) {
		holder = 0;
		while (!holder && (entry = readdir(dir))) {
			pid = atoi(entry->d_name);
			holder = pid > 0 && has_lock(pid, &lock) ? pid : 0;
		}
	}
	if (dir)
		closedir(dir);
	return holder;
}

void lock_holder_name(pid_t holder, char *name, size_t size)
{
	if (kernel_read(name, size, "/proc/%d/comm", holder) < 0)
		snprintf(name, size, "ended");
	ms_make_printable(name);
}

static bool has_argument(pid_t pid, const char *wanted)
{
	char path[64], *argument = NULL;
	bool has = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	while (file && !has && getdelim(&argument, &size, '\0', file) > 0)
		has = strcmp(argument, wanted) == 0;
	free(argument);
	if (file)
		fclose(file);
	return has;
}

bool lock_holder_is_step(pid_t holder)
{
	char name[32];

	lock_holder_name(holder, name, sizeof(name));
	/* Slurm runs prologs and epilogs as "slurmstepd spank prolog". */
	return strcmp(name, "slurmstepd") == 0 && !has_argument(holder, "spank");
}

pid_t lock_holder_kill(void)
{
	pid_t holder = lock_holder();
	int process = holder > 0 ? (int)syscall(__NR_pidfd_open, holder, 0) : -1;

	/* From here on the number cannot become another process's. */
	if (process < 0 || lock_holder() != holder || lock_holder_is_step(holder) ||
	    syscall(__NR_pidfd_send_signal, process, SIGKILL, NULL, 0) < 0)
		holder = 0;
	if (process >= 0)
		close(process);
	return holder;
}
