// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/find/targets.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "base/cgroup.h"
#include "base/files.h"
#include "migrate/base/context.h"

#define PF_KTHREAD 0x00200000

/* A process in /proc/PID/stat. */
struct status {
	pid_t pid, parent;
	unsigned flags;
	uint64_t started; /* clock ticks since boot */
	bool chosen;
};

static int read_status(pid_t pid, struct status *status)
{
	char text[2048];
	const char *rest;

	*status = (struct status){ .pid = pid };
	if (kernel_read(text, sizeof(text), "/proc/%d/stat", pid) < 0)
		return -1;
	/* The program's name ends at the last parenthesis; it can contain anything. */
	rest = strrchr(text, ')');
	return rest && sscanf(rest + 1,
			      " %*c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			      "%*d %*d %*d %" SCNu64,
			      &status->parent, &status->flags, &status->started) == 3
		       ? 0
		       : -1;
}

bool target_gone(struct migrate_process *process)
{
	struct pollfd poller = { .fd = process->pidfd, .events = POLLIN };

	/* A signal that comes makes poll() fail, and says nothing about the process. */
	if (!process->gone && poll(&poller, 1, 0) > 0)
		process->gone = true;
	return process->gone;
}

static bool is_known(const struct migration *migration, const struct status *status)
{
	for (size_t i = 0; i < migration->n_processes; i++) {
		if (migration->processes[i].pid == status->pid &&
		    migration->processes[i].started == status->started)
			return true;
	}
	return false;
}

/* The result of adding a process. */
enum added {
	ADDED,
	ADDED_NONE, /* the process is known, a kernel thread or gone */
	ADDED_ERROR,
};

static enum added add(struct migration *migration, pid_t pid, struct ms_error *err)
{
	struct migrate_process *processes, *process;
	struct status status, again;
	int pidfd;

	if (read_status(pid, &status) < 0 || (status.flags & PF_KTHREAD) ||
	    is_known(migration, &status))
		return ADDED_NONE;
	pidfd = syscall(__NR_pidfd_open, pid, 0);
	/* EINVAL: the number is a thread's by now. */
	if (pidfd < 0 && (errno == ESRCH || errno == EINVAL))
		return ADDED_NONE;
	if (pidfd < 0) {
		ms_fail(err,
			"expected to follow process %d by pidfd_open(2), found: %m; raise the limit "
			"of open files (ulimit -n), or use Linux 5.3 or newer",
			pid);
		return ADDED_ERROR;
	}
	/* The PID may be another process's since its status was read. */
	if (read_status(pid, &again) < 0 || again.started != status.started) {
		close(pidfd);
		return ADDED_NONE;
	}
	processes =
		reallocarray(migration->processes, migration->n_processes + 1, sizeof(*processes));
	if (!processes) {
		close(pidfd);
		ms_fail(err, "out of memory");
		return ADDED_ERROR;
	}
	migration->processes = processes;
	process = &processes[migration->n_processes++];
	*process =
		(struct migrate_process){ .pid = pid, .started = status.started, .pidfd = pidfd };
	return ADDED;
}

/* The state of a search that calls back. */
struct search {
	struct migration *migration;
	struct ms_error *err;
	int found;
};

/* Adds the processes that a file of the kernel lists. 0 or -1. */
static int add_listed(struct search *search, const char *path)
{
	FILE *file = fopen(path, "re");
	enum added added = ADDED_NONE;
	int pid;

	if (!file)
		return 0;
	while (added != ADDED_ERROR && fscanf(file, "%d", &pid) == 1) {
		added = add(search->migration, pid, search->err);
		search->found += added == ADDED;
	}
	fclose(file);
	return added == ADDED_ERROR ? -1 : 0;
}

/* ---- a process and its descendants ---- */

/*
 * Finds the tree of processes at first. It takes time for the processes of the tree only, however
 * many others there are. find_tree() finds later any child that the kernel leaves out here, which
 * it may do while a sibling ends.
 */
static int find_children(struct migration *migration, struct ms_error *err)
{
	struct search search = { .migration = migration, .err = err };
	enum added added = add(migration, migration->request->pid, err);
	int ret = added == ADDED_ERROR ? -1 : 0;

	search.found = added == ADDED;
	for (size_t i = 0; i < migration->n_processes && ret == 0; i++) {
		char pattern[64];
		glob_t found;

		snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/children",
			 migration->processes[i].pid);
		if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
			continue;
		for (size_t j = 0; j < found.gl_pathc && ret == 0; j++)
			ret = add_listed(&search, found.gl_pathv[j]);
		globfree(&found);
	}
	return ret < 0 ? -1 : search.found;
}

/* Reads the status of all processes; free() it. */
static struct status *read_all(size_t *n)
{
	struct status *all = NULL, *more, one;
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	*n = 0;
	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)*entry->d_name) ||
		    read_status(atoi(entry->d_name), &one) < 0)
			continue;
		more = reallocarray(all, *n + 1, sizeof(*all));
		if (!more)
			break;
		all = more;
		all[(*n)++] = one;
	}
	if (proc)
		closedir(proc);
	return all;
}

/* True when the process was chosen. One that has ended is not among 'all' any more. */
static bool is_chosen(const struct status *all, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++) {
		if (all[i].pid == pid)
			return all[i].chosen;
	}
	return false;
}

static void choose_descendants(struct migration *migration, struct status *all, size_t n)
{
	bool more = true;

	for (size_t i = 0; i < n; i++)
		all[i].chosen = migration->every_process || all[i].pid == migration->request->pid ||
				is_known(migration, &all[i]);
	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			if (all[i].chosen || !is_chosen(all, n, all[i].parent))
				continue;
			all[i].chosen = true;
			more = true;
		}
	}
}

static int find_tree(struct migration *migration, struct ms_error *err)
{
	struct status *all;
	enum added added = ADDED_NONE;
	int found = 0;
	size_t n;

	all = read_all(&n);
	choose_descendants(migration, all, n);
	for (size_t i = 0; i < n && added != ADDED_ERROR; i++) {
		if (!all[i].chosen || all[i].flags & PF_KTHREAD)
			continue;
		added = add(migration, all[i].pid, err);
		found += added == ADDED;
	}
	free(all);
	return added == ADDED_ERROR ? -1 : found;
}

/* ---- cgroups ---- */

static int add_members(struct search *search, const char *directory)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	return add_listed(search, path);
}

static int add_tree(struct search *search, const char *path)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;
	int ret = 0;

	while (tree && ret == 0 && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_D)
			ret = add_members(search, entry->fts_path);
	}
	if (tree)
		fts_close(tree);
	return ret;
}

static int check_cgroup(const char *path, struct ms_error *err)
{
	struct statfs fs;
	struct stat st;

	if (statfs(path, &fs) < 0 || stat(path, &st) < 0)
		return ms_fail(err,
			       "expected the cgroup %s, found: %m; name a directory below "
			       "/sys/fs/cgroup",
			       path);
	if (!S_ISDIR(st.st_mode) ||
	    (fs.f_type != CGROUP_SUPER_MAGIC && fs.f_type != CGROUP2_SUPER_MAGIC))
		return ms_fail(err,
			       "expected a cgroup, found that %s is none; name a directory below "
			       "/sys/fs/cgroup",
			       path);
	return 0;
}

static int add_cgroup(const struct job_cgroup *cgroup, void *search)
{
	return add_tree(search, cgroup->path);
}

/* ---- a selection ---- */

static int find_selected(struct migration *migration, struct ms_error *err)
{
	enum added added = ADDED_NONE;
	int found = 0;

	for (size_t i = 0; i < migration->n_selections && added != ADDED_ERROR; i++) {
		const struct migrate_selection *selection = &migration->selections[i];
		struct migrate_process *process;

		added = add(migration, selection->pid, err);
		if (added != ADDED)
			continue;
		process = &migration->processes[migration->n_processes - 1];
		if (process->started == selection->started) {
			process->only = selection;
			found++;
			continue;
		}
		close(process->pidfd);
		migration->n_processes--;
	}
	return added == ADDED_ERROR ? -1 : found;
}

int targets_find(struct migration *migration, struct ms_error *err)
{
	struct search search = { .migration = migration, .err = err };
	const struct ms_migrate_request *request = migration->request;
	int error;

	if (migration->selections)
		return find_selected(migration, err);
	if (request->pid && !migration->n_processes)
		return find_children(migration, err);
	if (migration->every_process || request->pid)
		return find_tree(migration, err);
	if (request->cgroup) {
		if (check_cgroup(request->cgroup, err) < 0)
			return -1;
		return add_tree(&search, request->cgroup) < 0 ? -1 : search.found;
	}
	error = job_cgroups_each(request->job_id, add_cgroup, &search);
	if (error > 0)
		return ms_fail(err,
			       "expected the cgroups of job %u, found: no /proc/self/mounts (%s)",
			       request->job_id, strerror(error));
	return error ? -1 : search.found;
}

void targets_free(struct migration *migration)
{
	for (size_t i = 0; i < migration->n_processes; i++) {
		close(migration->processes[i].pidfd);
		free(migration->processes[i].pages);
		free(migration->processes[i].mappings);
	}
	free(migration->processes);
	migration->processes = NULL;
	migration->n_processes = 0;
}
