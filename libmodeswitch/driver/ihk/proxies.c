// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends the proxies of an instance that is to end: while one has its device open, IHK may wait for ever. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <syslog.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "base/clock.h"
#include "base/files.h"
#include "driver/ihk/ihk.h"

/* Milliseconds that processes get to end after SIGKILL. */
#define PROXIES_MS 5000
#define PAUSE_US 20000

const char *ihk_device_prefix = IHK_DEVICE_PREFIX;

static bool is_users(pid_t pid, uid_t uid)
{
	char text[8192];
	const char *line;
	uid_t real;

	if (kernel_read(text, sizeof(text), "/proc/%d/status", pid) < 0)
		return false;
	line = strstr(text, "\nUid:");
	return line && sscanf(line, "\nUid: %u", &real) == 1 && real == uid;
}

/*
 * True when the descriptor is of the device. The path comes first: another file system may hang, and this asks
 * none for its attributes.
 */
static bool is_device(int dir, const char *fd, const char *device, const struct stat *wanted)
{
	const char *name = strrchr(device, '/');
	char path[4096];
	ssize_t length = readlinkat(dir, fd, path, sizeof(path) - 1);
	struct statx found;
	char *at;

	path[length > 0 ? length : 0] = '\0';
	/* A process in another mount namespace may have the device below another path. */
	at = strrchr(path, '/');
	return at && strcmp(at, name) == 0 &&
	       statx(dir, fd, AT_STATX_DONT_SYNC, STATX_TYPE, &found) == 0 &&
	       S_ISCHR(found.stx_mode) &&
	       makedev(found.stx_rdev_major, found.stx_rdev_minor) == wanted->st_rdev;
}

static bool has_open(pid_t pid, const char *device, const struct stat *wanted)
{
	struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir)))
		found = is_device(dirfd(dir), entry->d_name, device, wanted);
	if (dir)
		closedir(dir);
	return found;
}

/* Kills the process if it is a proxy of the instance; true when it was one. */
static bool kill_proxy(pid_t pid, uid_t uid, const char *device, const struct stat *wanted)
{
	/* After this the number cannot become another process's, but for Linux before 5.3. */
	int process = syscall(__NR_pidfd_open, pid, 0);
	bool is_proxy;

	if (process < 0 && errno != ENOSYS)
		return false;
	is_proxy = pid != getpid() && is_users(pid, uid) && has_open(pid, device, wanted);
	if (is_proxy && process < 0)
		kill(pid, SIGKILL);
	else if (is_proxy)
		syscall(__NR_pidfd_send_signal, process, SIGKILL, NULL, 0);
	if (process >= 0)
		close(process);
	return is_proxy;
}

/* Kills all proxies; one of those that were still there, or 0. */
static pid_t kill_proxies(uid_t uid, const char *device, const struct stat *wanted)
{
	struct dirent *entry;
	pid_t pid, found = 0;
	DIR *proc = opendir("/proc");

	while (proc && (entry = readdir(proc))) {
		pid = atoi(entry->d_name);
		if (pid > 0 && kill_proxy(pid, uid, device, wanted))
			found = pid;
	}
	if (proc)
		closedir(proc);
	return found;
}

void ihk_end_proxies(int os, uid_t uid)
{
	int64_t deadline = clock_ms() + PROXIES_MS;
	struct stat wanted;
	char device[4096];
	pid_t left;

	snprintf(device, sizeof(device), "%s%d", ihk_device_prefix, os);
	if (stat(device, &wanted) < 0 || !S_ISCHR(wanted.st_mode))
		return;
	while ((left = kill_proxies(uid, device, &wanted)) && clock_ms() < deadline)
		usleep(PAUSE_US);
	if (left)
		syslog(LOG_DAEMON | LOG_WARNING,
		       "slurm-lwk: expected that no process has %s open %d ms after SIGKILL, found "
		       "process %d; IHK may be unable to end the LWK: see /proc/%d/stack",
		       device, PROXIES_MS, left, left);
}
