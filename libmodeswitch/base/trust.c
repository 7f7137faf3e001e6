// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"

/* Linux follows as many in one path. */
#define MAX_LINKS 40

int file_check_trusted(int fd, const char *path, struct ms_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ms_fail(err, "%s: %m", path);
	if (!S_ISREG(st.st_mode))
		return ms_fail(err, "%s: expected a regular file, found something else", path);
	if (st.st_uid != 0)
		return ms_fail(
			err, "%s: expected a file of root, found one of user %u; use chown root %s",
			path, st.st_uid, path);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return ms_fail(err,
			       "%s: expected a file that only root can write, found mode %04o; use "
			       "chmod go-w %s",
			       path, st.st_mode & 07777, path);
	return 0;
}

static int check_directory(const char *path, bool is_last, struct ms_error *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return ms_fail(err, "%s: %m", path);
	if (st.st_uid == 0 &&
	    (!(st.st_mode & (S_IWGRP | S_IWOTH)) || (!is_last && st.st_mode & S_ISVTX)))
		return 0;
	return ms_fail(err,
		       "expected a directory that only root can write, found %s with mode %04o of "
		       "user %u; use chown root and chmod go-w",
		       path, st.st_mode & 07777, st.st_uid);
}

/* Puts the target of a link in front of the rest of the path; 'done' is the link's directory. */
static int follow(const char *link, char *done, char *rest, struct ms_error *err)
{
	char target[PATH_MAX], joined[PATH_MAX];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	if (length < 0)
		return ms_fail(err, "%s: %m", link);
	target[length] = '\0';
	if (*target == '/')
		*done = '\0';
	if (snprintf(joined, sizeof(joined), "%s/%s", target, rest) >= (int)sizeof(joined))
		return ms_fail(err, "%s: %s", link, strerror(ENAMETOOLONG));
	strcpy(rest, joined);
	return 0;
}

/* Takes one name from the rest of the path, and adds it to 'done' unless it is that of a link. */
static int take_step(char *done, char *rest, unsigned *links, struct ms_error *err)
{
	char name[PATH_MAX], next[2 * PATH_MAX];
	size_t length = strcspn(rest, "/");
	struct stat st;

	snprintf(name, sizeof(name), "%.*s", (int)length, rest);
	memmove(rest, rest + length, strlen(rest + length) + 1);
	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		if (*done)
			*strrchr(done, '/') = '\0';
		return 0;
	}
	if (check_directory(*done ? done : "/", false, err) < 0)
		return -1;
	if (snprintf(next, sizeof(next), "%s/%s", done, name) >= PATH_MAX)
		return ms_fail(err, "%s: %s", next, strerror(ENAMETOOLONG));
	if (lstat(next, &st) < 0)
		return ms_fail(err, "%s: %m", next);
	if (!S_ISLNK(st.st_mode)) {
		strcpy(done, next);
		return 0;
	}
	if (st.st_uid != 0)
		return ms_fail(err, "%s: expected a link of root, found one of user %u", next,
			       st.st_uid);
	if (++*links > MAX_LINKS)
		return ms_fail(err, "%s: %s", next, strerror(ELOOP));
	return follow(next, done, rest, err);
}

int path_check_trusted(const char *path, struct ms_error *err)
{
	char done[PATH_MAX] = "", rest[PATH_MAX];
	unsigned links = 0;

	path += strspn(path, "/");
	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		return ms_fail(err, "%s: %s", path, strerror(ENAMETOOLONG));
	while (*rest) {
		if (*rest == '/')
			memmove(rest, rest + 1, strlen(rest));
		else if (take_step(done, rest, &links, err) < 0)
			return -1;
	}
	if (*done)
		*strrchr(done, '/') = '\0';
	return check_directory(*done ? done : "/", true, err);
}

int open_within(int at, const char *path, int flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};

	return syscall(__NR_openat2, at, path, &how, sizeof(how));
}
