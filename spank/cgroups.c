// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/cpusets.h"
#include "compat/slurm_compat.h"

#define PROCESSES "cgroup.procs"
/* Slurm's are below each other: a job's, a step's, a task's. */
#define MOST_DEPTH 4
/* A user can make cgroups as fast as they are removed, and processes as fast as they are moved. */
#define WALK_MS 2000
#define TRIES 100

struct walk {
	bool remove; /* empty cgroups of Slurm's, too */
	int64_t deadline;
	int error; /* the first negative errno; 0: none */
};

static int open_directory(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static DIR *open_entries(int at, const char *name)
{
	int fd = open_directory(at, name);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !entries)
		close(fd);
	return entries;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Finds a directory in 'dir'. false: there is none. */
static bool find_directory(int dir, char name[NAME_MAX + 1])
{
	DIR *entries = open_entries(dir, ".");
	struct dirent *entry;
	bool found = false;

	while (entries && !found && (entry = readdir(entries))) {
		found = entry->d_type == DT_DIR && !is_dot(entry->d_name);
		if (found)
			snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
	}
	if (entries)
		closedir(entries);
	return found;
}

/* Moves the processes of a cgroup to the one that it is in. */
static void move_processes(int parent, const char *name)
{
	int dir = open_directory(parent, name), to = -1, pid;
	int fd = dir < 0 ? -1 : openat(dir, PROCESSES, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *from = fd < 0 ? NULL : fdopen(fd, "r");

	if (from)
		to = openat(parent, PROCESSES, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	/* One that has ended meanwhile needs no cgroup. */
	while (to >= 0 && fscanf(from, "%d", &pid) == 1)
		dprintf(to, "%d\n", pid);
	if (to >= 0)
		close(to);
	if (from)
		fclose(from);
	else if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
}

/* Removes a cgroup without others below it. 0 or a negative errno. */
static int remove_one(int parent, const char *name, int tries)
{
	int error = 0;

	for (int i = 0; i < tries; i++) {
		move_processes(parent, name);
		if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		error = -errno;
	}
	return error;
}

/*
 * Removes a cgroup that a user has made, and all below it. It has one directory open at a time, and uses no
 * paths, because cgroups can be in each other without end. It takes each before it looks into it, so
 * that no more come there. 0 or a negative errno.
 */
static int remove_made(int parent, const char *name, int64_t deadline)
{
	int dir = open_directory(parent, name), next, depth = 0, error = 0;
	char child[NAME_MAX + 1];
	bool rose = false; /* what was below the child is removed */

	while (dir >= 0) {
		if (fchown(dir, 0, 0) < 0 || clock_ms() >= deadline) {
			error = clock_ms() >= deadline ? -ETIMEDOUT : -errno;
			break;
		}
		if (find_directory(dir, child)) {
			error = remove_one(dir, child, rose ? TRIES : 1);
			if (error && rose)
				break;
			rose = false;
			if (!error)
				continue;
			next = open_directory(dir, child);
			depth++;
		} else if (depth) {
			next = open_directory(dir, "..");
			rose = true;
			depth--;
		} else {
			close(dir);
			return remove_one(parent, name, TRIES);
		}
		error = next < 0 ? -errno : 0;
		close(dir);
		dir = next;
	}
	if (dir >= 0)
		close(dir);
	return error;
}

static void keep_error(struct walk *walk, int error)
{
	if (!walk->error)
		walk->error = error;
}

/* A user's mkdir(2) gives him the files of the new cgroup; Slurm's gives him the directory only. */
static bool is_made_by_user(int dir, const char *name)
{
	char path[NAME_MAX + sizeof("/" PROCESSES)];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" PROCESSES, name);
	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != 0;
}

/* Gives a file or directory to root. One that has gone meanwhile needs no owner. 0 or a negative errno. */
static int take(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (st.st_uid == 0 || fchownat(dir, name, 0, 0, AT_SYMLINK_NOFOLLOW) == 0))
		return 0;
	return errno == ENOENT ? 0 : -errno;
}

/* Takes a cgroup of Slurm's before it looks into it, so that the user makes no more there. */
static void take_tree(int parent, const char *name, int depth, struct walk *walk)
{
	DIR *entries = open_entries(parent, name);
	int dir = entries ? dirfd(entries) : -1, error = 0;
	struct dirent *entry;

	if (!entries || depth > MOST_DEPTH)
		error = entries ? -ENAMETOOLONG : errno == ENOENT ? 0 : -errno;
	else
		error = take(dir, ".");
	while (entries && !error && (entry = readdir(entries))) {
		if (is_dot(entry->d_name))
			continue;
		if (entry->d_type != DT_DIR)
			keep_error(walk, take(dir, entry->d_name));
		else if (is_made_by_user(dir, entry->d_name))
			keep_error(walk, remove_made(dir, entry->d_name, walk->deadline));
		else
			take_tree(dir, entry->d_name, depth + 1, walk);
	}
	keep_error(walk, error);
	if (entries)
		closedir(entries);
	if (walk->remove)
		unlinkat(parent, name, AT_REMOVEDIR);
}

static int take_cgroup(const struct job_cgroup *cgroup, void *context)
{
	struct walk *walk = context;

	take_tree(AT_FDCWD, cgroup->path, 0, walk);
	return 0;
}

static void take_job(uint32_t job_id, bool remove)
{
	struct walk walk = { .remove = remove, .deadline = clock_ms() + WALK_MS };

	job_cgroups_each(job_id, take_cgroup, &walk);
	if (walk.error)
		slurm_error("lwk: job %u: expected to remove the cgroups that its user has made, "
			    "found: %s; look for processes that are not Slurm's in its cgroups",
			    job_id, strerror(-walk.error));
}

void cgroups_remove_empty(uint32_t job_id)
{
	take_job(job_id, true);
}

void cgroups_take(uint32_t job_id)
{
	take_job(job_id, false);
}

void cgroups_name_nodes(pid_t pid)
{
	int error = cpusets_name_nodes_of(pid);

	if (error)
		slurm_info("lwk: expected to name the nodes in the cpuset of process %d, found: "
			   "%s; it can hold up switches by keeping its memory map locked",
			   (int)pid, strerror(-error));
}
