// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes the nodes of cpusets, so that new pages of the processes come from the nodes to move to.
 * Only cpusets without other processes change. Memory policies that name nodes follow their cpuset
 * as far as the kernel lets them; a policy itself can be changed by its process only.
 *
 * A cpuset of version 2 moves all pages at once when it loses nodes. So it gets the new nodes
 * before the pages move and loses the others after. With version 1 that can be switched off, and
 * new pages come from the right nodes from the start.
 */
#include "migrate/place/cpusets.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/files.h"
#include "migrate/base/context.h"
#include "modeswitch/config.h"

/* ---- the cpuset of the caller ---- */

/* True when the caller may have memory of all these nodes. */
static bool may_have_memory_of(hwloc_const_bitmap_t nodes)
{
	struct bitmask *allowed = numa_get_mems_allowed();
	bool all = true;
	unsigned node;

	hwloc_bitmap_foreach_begin(node, nodes)
		all = all && numa_bitmask_isbitset(allowed, node);
	hwloc_bitmap_foreach_end();
	numa_bitmask_free(allowed);
	return all;
}

int cpusets_reach(const struct migration *migration, struct ms_error *err)
{
	struct hierarchy cpusets;

	if (may_have_memory_of(migration->request->to))
		return 0;
	if (hierarchy_find("cpuset", &cpusets) == 0 &&
	    kernel_write("0", "%s/cgroup.procs", cpusets.mount) == 0 &&
	    may_have_memory_of(migration->request->to))
		return 0;
	return ms_fail(err,
		       "expected to be allowed memory of all nodes to move to, found that the "
		       "cpuset of this command lacks some; run it as root, or in another cgroup");
}

/* ---- the cpusets of the processes ---- */

static bool is_cpuset(const char *directory)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/cpuset.mems", directory) < (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

/* Finds the cpuset of a process. 0, or -1 when it has none of its own or is gone. */
static int find_cpuset(const struct hierarchy *hierarchy, pid_t pid, char *path, size_t size)
{
	if (hierarchy_path_of_process(hierarchy, pid, path, size) < 0)
		return -1;
	/* A group without cpuset files has the nodes of its parent. */
	while (!is_cpuset(path) && strlen(path) > strlen(hierarchy->mount))
		*strrchr(path, '/') = '\0';
	return strlen(path) > strlen(hierarchy->mount) + 1 ? 0 : -1;
}

static bool is_target(const struct migration *migration, pid_t pid)
{
	for (size_t i = 0; i < migration->n_processes; i++) {
		if (migration->processes[i].pid == pid)
			return true;
	}
	return false;
}

/* True when all processes in the cpuset and below it are migrated. */
static bool is_ours_alone(const struct migration *migration, const char *directory)
{
	char *const paths[] = { (char *)directory, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;
	bool alone = tree != NULL;

	while (alone && (entry = fts_read(tree))) {
		char path[PATH_MAX];
		FILE *file;
		int pid;

		if (entry->fts_info != FTS_D)
			continue;
		snprintf(path, sizeof(path), "%s/cgroup.procs", entry->fts_path);
		file = fopen(path, "re");
		while (alone && file && fscanf(file, "%d", &pid) == 1)
			alone = is_target(migration, pid);
		if (file)
			fclose(file);
	}
	if (tree)
		fts_close(tree);
	return alone;
}

static bool is_listed(const struct migration *migration, const char *path)
{
	for (size_t i = 0; i < migration->n_cpusets; i++) {
		if (strcmp(migration->cpusets[i].path, path) == 0)
			return true;
	}
	return false;
}

static int list(struct migration *migration, const char *path, bool v2)
{
	struct migrate_cpuset *more, *cpuset;
	char mems[8192], flag[8];

	if (is_listed(migration, path) ||
	    kernel_read(mems, sizeof(mems), "%s/cpuset.mems", path) < 0)
		return 0;
	more = reallocarray(migration->cpusets, migration->n_cpusets + 1, sizeof(*more));
	if (!more)
		return -1;
	migration->cpusets = more;
	cpuset = &more[migration->n_cpusets];
	*cpuset = (struct migrate_cpuset){ .path = strdup(path), .mems = strdup(mems), .v2 = v2 };
	cpuset->migrate = !v2 &&
			  kernel_read(flag, sizeof(flag), "%s/cpuset.memory_migrate", path) > 0 &&
			  *flag == '1';
	if (!cpuset->path || !cpuset->mems) {
		free(cpuset->path);
		free(cpuset->mems);
		return -1;
	}
	migration->n_cpusets++;
	return 0;
}

/* Lists the cpuset and those below it, parents first. 0, or -1 without memory. */
static int list_tree(struct migration *migration, const char *path, bool v2)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;
	int ret = 0;

	while (tree && ret == 0 && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_D && is_cpuset(entry->fts_path))
			ret = list(migration, entry->fts_path, v2);
	}
	if (tree)
		fts_close(tree);
	return ret;
}

struct job_search {
	struct migration *migration;
	const struct hierarchy *hierarchy;
};

static int list_of_job(const struct job_cgroup *cgroup, void *context)
{
	const struct job_search *search = context;

	if (strcmp(cgroup->mount, search->hierarchy->mount) != 0)
		return 0;
	return list_tree(search->migration, cgroup->path, search->hierarchy->version_2);
}

static int list_of_processes(struct migration *migration, const struct hierarchy *hierarchy)
{
	size_t shared = 0, none = 0;
	char path[PATH_MAX];

	for (size_t i = 0; i < migration->n_processes; i++) {
		if (find_cpuset(hierarchy, migration->processes[i].pid, path, sizeof(path)) < 0)
			none++;
		else if (is_listed(migration, path))
			continue;
		else if (!is_ours_alone(migration, path))
			shared++;
		else if (list_tree(migration, path, hierarchy->version_2) < 0)
			return -1;
	}
	if (none)
		migration_note(migration,
			       "%zu processes are in no cpuset of their own: their new pages come "
			       "from the node of the CPU that they run on",
			       none);
	if (shared)
		migration_note(migration,
			       "%zu processes share a cpuset with others, which stays as it is: "
			       "their new pages come from the node of the CPU that they run on",
			       shared);
	return 0;
}

static int list_cpusets(struct migration *migration)
{
	const struct ms_migrate_request *request = migration->request;
	struct job_search search = { .migration = migration };
	struct hierarchy hierarchy;

	if (hierarchy_find("cpuset", &hierarchy) < 0)
		return 0;
	search.hierarchy = &hierarchy;
	if (request->job_id && job_cgroups_each(request->job_id, list_of_job, &search) < 0)
		return -1;
	if (request->cgroup && is_cpuset(request->cgroup) && request->cgroup[0] == '/' &&
	    list_tree(migration, request->cgroup, hierarchy.version_2) < 0)
		return -1;
	return migration->n_cpusets ? 0 : list_of_processes(migration, &hierarchy);
}

/* ---- changing cpusets ---- */

/* Writes the nodes of the cpuset plus 'to', and without 'from' when 'narrow'. 0 or -errno. */
static int write_mems(struct migration *migration, const struct migrate_cpuset *cpuset, bool narrow)
{
	hwloc_bitmap_t mems = hwloc_bitmap_alloc();
	char *text = NULL, now[8192];
	struct ms_error ignored;
	int error = -ENOMEM;

	if (!mems || ms_parse_cpus(cpuset->mems, mems, &ignored) < 0)
		goto out;
	hwloc_bitmap_or(mems, mems, migration->request->to);
	if (narrow)
		hwloc_bitmap_andnot(mems, mems, migration->request->from);
	if (hwloc_bitmap_list_asprintf(&text, mems) < 0)
		goto out;
	error = 0;
	if (kernel_read(now, sizeof(now), "%s/cpuset.mems", cpuset->path) < 0 ||
	    strcmp(now, text) != 0)
		error = kernel_write(text, "%s/cpuset.mems", cpuset->path);
	/* A cpuset that was removed with its last process needs nothing. */
	if (error == -ENOENT || error == -ENODEV)
		error = 0;
out:
	free(text);
	hwloc_bitmap_free(mems);
	return error;
}

/* With version 2, a cpuset that is not set has the nodes of its parent. */
static bool is_unset(const struct migrate_cpuset *cpuset)
{
	return !*cpuset->mems;
}

static int widen_all(struct migration *migration)
{
	int error = 0;

	for (size_t i = 0; i < migration->n_cpusets && !error; i++) {
		struct migrate_cpuset *cpuset = &migration->cpusets[i];

		if (is_unset(cpuset))
			continue;
		if (cpuset->migrate)
			error = kernel_write("0", "%s/cpuset.memory_migrate", cpuset->path);
		if (!error)
			error = write_mems(migration, cpuset, false);
	}
	return error;
}

/* Children come first: a parent cannot lose a node that a child has. */
static int narrow_all(struct migration *migration)
{
	int error = 0, failed;

	for (size_t i = migration->n_cpusets; i-- > 0;) {
		if (is_unset(&migration->cpusets[i]))
			continue;
		failed = write_mems(migration, &migration->cpusets[i], true);
		error = error ? error : failed;
	}
	return error;
}

static void free_all(struct migration *migration)
{
	for (size_t i = 0; i < migration->n_cpusets; i++) {
		free(migration->cpusets[i].path);
		free(migration->cpusets[i].mems);
	}
	free(migration->cpusets);
	migration->cpusets = NULL;
	migration->n_cpusets = 0;
}

/* Gives each cpuset the nodes that it had; widen_all() has been called. */
static void restore_all(struct migration *migration)
{
	for (size_t i = migration->n_cpusets; i-- > 0;) {
		const struct migrate_cpuset *cpuset = &migration->cpusets[i];

		if (!is_unset(cpuset))
			kernel_write(cpuset->mems, "%s/cpuset.mems", cpuset->path);
		if (cpuset->migrate)
			kernel_write("1", "%s/cpuset.memory_migrate", cpuset->path);
	}
}

int cpusets_open(struct migration *migration, struct ms_error *err)
{
	bool v2;
	int error;

	if (list_cpusets(migration) < 0)
		return ms_fail(err, "out of memory");
	if (!migration->n_cpusets || migration->request->dry_run)
		return 0;
	v2 = migration->cpusets[0].v2;
	error = widen_all(migration);
	if (!error && !v2)
		error = narrow_all(migration);
	if (!error)
		return 0;
	restore_all(migration);
	migration_note(migration,
		       "cpuset %s keeps its nodes (%s): new pages can come from where they came "
		       "from before",
		       migration->cpusets[0].path, strerror(-error));
	free_all(migration);
	return 0;
}

void cpusets_close(struct migration *migration, bool done)
{
	int error = 0;

	if (!migration->n_cpusets || migration->request->dry_run) {
		free_all(migration);
		return;
	}
	if (!done) {
		widen_all(migration);
		restore_all(migration);
		free_all(migration);
		return;
	}
	if (migration->cpusets[0].v2)
		error = narrow_all(migration);
	if (error)
		migration_note(migration, "cpuset %s keeps the nodes that were left: %s",
			       migration->cpusets[0].path, strerror(-error));
	for (size_t i = 0; i < migration->n_cpusets; i++) {
		if (migration->cpusets[i].migrate)
			kernel_write("1", "%s/cpuset.memory_migrate", migration->cpusets[i].path);
	}
	free_all(migration);
}
