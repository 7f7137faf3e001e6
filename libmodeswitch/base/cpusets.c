// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cpusets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/files.h"

#define MOST_DEPTH 64

struct naming {
	char nodes[256]; /* all that the machine can have, such as "0-1" */
	int error;	 /* the first negative errno; 0: none */
};

/* A cgroup can go at any time. */
static void keep_error(struct naming *naming, int error)
{
	if (error != -ENOENT && error != -ENODEV && !naming->error)
		naming->error = error;
}

/*
 * Names the nodes in one cpuset. false: the cgroup has none, so there is none below it either. The
 * mount point has none, but others can be below it.
 */
static bool name_nodes(int dir, struct naming *naming)
{
	int fd = openat(dir, "cpuset.mems", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	char first;
	ssize_t got;

	if (fd < 0) {
		keep_error(naming, -errno);
		return false;
	}
	got = pread(fd, &first, 1, 0);
	if (got < 0 || ((got == 0 || first == '\n') &&
			pwrite(fd, naming->nodes, strlen(naming->nodes), 0) < 0))
		keep_error(naming, -errno);
	close(fd);
	return true;
}

/* Closes 'dir'. */
static void walk(int dir, int depth, struct naming *naming)
{
	DIR *entries = dir < 0 ? NULL : fdopendir(dir);
	struct dirent *entry;

	if (!entries) {
		keep_error(naming, -errno);
		if (dir >= 0)
			close(dir);
		return;
	}
	if (!name_nodes(dir, naming) && depth > 0) {
		closedir(entries);
		return;
	}
	if (depth >= MOST_DEPTH)
		keep_error(naming, -ELOOP);
	while (depth < MOST_DEPTH && (entry = readdir(entries))) {
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			walk(openat(dir, entry->d_name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			     depth + 1, naming);
	}
	closedir(entries);
}

static int name_nodes_below(const char *cgroup)
{
	struct naming naming = { .error = 0 };
	char path[2 * PATH_MAX];
	int got = kernel_read(naming.nodes, sizeof(naming.nodes),
			      "/sys/devices/system/node/possible");

	if (got < 0)
		return got;
	snprintf(path, sizeof(path), "%s%s", files_root, cgroup);
	walk(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, &naming);
	return naming.error;
}

/* 1: the node has no cpusets of version 2. */
static int find_cpusets(struct hierarchy *hierarchy)
{
	int error = hierarchy_find("cpuset", hierarchy);

	return error == -ENOENT || (!error && !hierarchy->version_2) ? 1 : error;
}

int cpusets_name_nodes(void)
{
	struct hierarchy hierarchy;
	int error = find_cpusets(&hierarchy);

	return error ? MIN(error, 0) : name_nodes_below(hierarchy.mount);
}

int cpusets_name_nodes_of(pid_t pid)
{
	struct hierarchy hierarchy;
	char path[PATH_MAX];
	int error = find_cpusets(&hierarchy);

	if (!error)
		error = hierarchy_path_of_process(&hierarchy, pid, path, sizeof(path));
	if (error)
		return error == -ENOENT ? 0 : MIN(error, 0);
	return name_nodes_below(path);
}
