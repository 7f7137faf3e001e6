// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "modeswitch/job.h"
#include "store/lock_holder.h"

const char *state_dir = MS_STATE_DIR;

static int make_dir(const char *path, struct ms_error *err)
{
	struct stat st;

	if (mkdir(path, 0755) == 0 && chmod(path, 0755) < 0) /* in spite of the umask */
		return ms_fail(err, "%s: %m", path);
	if (lstat(path, &st) < 0)
		return ms_fail(err, "%s: %m", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return ms_fail(err,
			       "%s: expected a directory of root that nobody else can write, found "
			       "mode %o of user %u",
			       path, st.st_mode, st.st_uid);
	return 0;
}

int state_open_jobs(struct ms_error *err)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/jobs", state_dir);
	if (make_dir(state_dir, err) < 0 || make_dir(path, err) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? ms_fail(err, "%s: %m", path) : fd;
}

int state_open_jobs_readonly(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/jobs", state_dir);
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns when the lock was last taken; each holder sets the file's time. */
static struct timespec lock_taken(int fd)
{
	struct stat st = { 0 };

	fstat(fd, &st);
	return st.st_mtim;
}

static int lock_is_held(int64_t waited_ms, struct ms_error *err)
{
	pid_t holder = lock_holder();
	char name[32], who[64] = "another process";

	lock_holder_name(holder, name, sizeof(name));
	if (holder > 0)
		snprintf(who, sizeof(who), "process %d (%s)", holder, name);
	return ms_fail(err,
		       "expected this node's lock of switching within %u s, found %s has it; "
		       "'lwkctl status' shows the jobs that switch; submit the job again later",
		       (unsigned)(waited_ms / 1000), who);
}

int state_lock(unsigned wait_ms, struct ms_error *err)
{
	int64_t start = clock_ms();
	struct timespec turn, now;
	char path[4096];
	int fd;

	if (make_dir(state_dir, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/lock", state_dir);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ms_fail(err, "%s: %m", path);
	turn = lock_taken(fd);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		now = lock_taken(fd);
		if (now.tv_sec != turn.tv_sec || now.tv_nsec != turn.tv_nsec) {
			turn = now;
			start = clock_ms();
		}
		if (clock_ms() - start >= wait_ms || signal_is_pending()) {
			close(fd);
			return lock_is_held(clock_ms() - start, err);
		}
		usleep(20000);
	}
	futimens(fd, NULL);
	return fd;
}

int state_take(const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", state_dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

ssize_t state_jobs(const char *suffix, uint32_t **out, struct ms_error *err)
{
	int fd = state_open_jobs_readonly();
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint32_t *ids = NULL;
	size_t n = 0;

	*out = NULL;
	if (!dir)
		return errno == ENOENT ? 0 : ms_fail(err, "%s/jobs: %m", state_dir);
	while ((entry = readdir(dir))) {
		char expected[64];
		uint32_t id = strtoul(entry->d_name, NULL, 10);
		void *more;

		snprintf(expected, sizeof(expected), "%u%s", id, suffix);
		if (strcmp(entry->d_name, expected) != 0)
			continue;
		more = reallocarray(ids, n + 1, sizeof(*ids));
		if (!more) {
			free(ids);
			closedir(dir);
			return ms_fail(err, "out of memory");
		}
		ids = more;
		ids[n++] = id;
	}
	closedir(dir);
	if (n)
		qsort(ids, n, sizeof(*ids), compare_ids);
	*out = ids;
	return n;
}

bool state_knows_job(uint32_t job_id)
{
	static const char *const suffixes[] = { "begun", "journal", "json" };
	int dir = state_open_jobs_readonly();
	bool knows = false;
	char name[32];

	if (dir < 0)
		return errno != ENOENT;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(name, sizeof(name), "%u.%s", job_id, suffixes[i]);
		knows |= faccessat(dir, name, F_OK, 0) == 0;
	}
	close(dir);
	return knows;
}

static int replace_in(int dir, const char *dir_name, const char *name, const char *text,
		      mode_t mode, struct ms_error *err)
{
	size_t length = strlen(text);
	char fresh[300];
	int fd, ret = 0;

	snprintf(fresh, sizeof(fresh), "%s.new", name);
	unlinkat(dir, fresh, 0);
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0 || fchmod(fd, mode) < 0 || write(fd, text, length) != (ssize_t)length ||
	    fsync(fd) < 0 || renameat(dir, fresh, dir, name) < 0 || fsync(dir) < 0)
		ret = ms_fail(err, "%s/%s: %m", dir_name, name);
	if (ret < 0)
		unlinkat(dir, fresh, 0);
	if (fd >= 0)
		close(fd);
	return ret;
}

int state_replace_file(const char *name, const char *text, mode_t mode, struct ms_error *err)
{
	int dir = state_open_jobs(err), ret;
	char path[4096];

	if (dir < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/jobs", state_dir);
	ret = replace_in(dir, path, name, text, mode, err);
	close(dir);
	return ret;
}

int state_keep(const char *name, const char *text, struct ms_error *err)
{
	int dir, ret;

	if (make_dir(state_dir, err) < 0)
		return -1;
	dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ms_fail(err, "%s: %m", state_dir);
	ret = replace_in(dir, state_dir, name, text, 0600, err);
	close(dir);
	return ret;
}

int state_read(const char *name, const char *what, const char *remedy, struct json_object **object,
	       struct ms_error *err)
{
	char path[PATH_MAX];
	int fd;

	*object = NULL;
	snprintf(path, sizeof(path), "%s/%s", state_dir, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return ms_fail(err, "%s: %m", path);
	*object = fd < 0 ? json_object_new_object() : json_object_from_fd(fd);
	if (fd >= 0)
		close(fd);
	if (*object && json_object_is_type(*object, json_type_object))
		return 0;
	json_object_put(*object);
	*object = NULL;
	return ms_fail(err, "%s: expected %s, found something else; %s", path, what, remedy);
}
