// SPDX-License-Identifier: GPL-2.0-or-later
#include "node/prepare/cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/files.h"

#define GROUP "slurm-lwk-system"

const char *cpusets_base(char *path, size_t size)
{
	struct hierarchy cpusets;

	if (hierarchy_find("cpuset", &cpusets) < 0 || (cpusets.version_2 && !cgroup2_is_used()))
		return NULL;
	snprintf(path, size, "%s", cpusets.version_2 ? CGROUP2_MOUNT : cpusets.mount);
	return path;
}

/* Reads a process's name and parent. False: it has ended, or is a kernel thread. */
static bool read_process(pid_t pid, char name[32], pid_t *parent)
{
	unsigned long flags;
	char text[1024], *end;

	if (kernel_read(text, sizeof(text), "/proc/%d/stat", pid) <= 0)
		return false;
	end = strrchr(text, ')');
	if (!end || !strchr(text, '('))
		return false;
	snprintf(name, 32, "%.*s", (int)(end - strchr(text, '(') - 1), strchr(text, '(') + 1);
	/*
	 * proc(5): after the name come state, parent, group, session, terminal, its group, flags.
	 */
	if (sscanf(end + 1, " %*c %d %*d %*d %*d %*d %lu", parent, &flags) != 2)
		return false;
	return !(flags & 0x00200000); /* PF_KTHREAD */
}

/*
 * True when the process must stay where it is. Jobs are below slurmd. The administrator may start
 * slurmd from a shell, so everything below sshd and login stays, and so does the first process,
 * whose children would be bound, too.
 */
static bool is_left_out(pid_t pid, const char *name, pid_t parent)
{
	static const char *const names[] = { "slurmd", "slurmstepd", "sshd", "login" };
	char above[32];

	if (pid == 1)
		return true;
	for (int depth = 0; depth < 64 && pid > 1; depth++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			if (strcmp(name, names[i]) == 0)
				return true;
		}
		pid = parent;
		if (pid <= 1 || !read_process(pid, above, &parent))
			break;
		name = above;
	}
	return false;
}

static bool is_number(const char *text)
{
	return isdigit((unsigned char)*text) && !text[strspn(text, "0123456789")];
}

/*
 * Moves processes from 'from' to 'to', both below 'base': all of them, or those that may be bound.
 */
static unsigned move_processes(const char *base, const char *from, const char *to, bool all)
{
	char path[PATH_MAX], name[32], line[32];
	unsigned moved = 0;
	FILE *processes;
	pid_t parent;

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", base, from);
	processes = fopen(path, "re");
	while (processes && fgets(line, sizeof(line), processes)) {
		pid_t pid = atoi(line);

		line[strcspn(line, "\n")] = '\0';
		if (!is_number(line) || !read_process(pid, name, &parent) ||
		    (!all && is_left_out(pid, name, parent)))
			continue;
		/* The process may have ended meanwhile. */
		moved += kernel_write(line, "%s%s/cgroup.procs", base, to) == 0;
	}
	if (processes)
		fclose(processes);
	return moved;
}

int keep_by_cpuset(const char *base, const char *cpus, const char *nodes, unsigned *changed,
		   struct ms_error *err)
{
	char path[PATH_MAX + sizeof(GROUP)];
	int error;

	snprintf(path, sizeof(path), "%s/" GROUP, base);
	if (cgroup2_is_used())
		kernel_write("+cpuset", CGROUP2_MOUNT "/cgroup.subtree_control");
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return ms_fail(err, "%s: %m", path);
	error = kernel_write(cpus, "%s/cpuset.cpus", path);
	if (!error)
		error = kernel_write(nodes, "%s/cpuset.mems", path);
	/* The memory that they have moves, too; with version 2 it always does. */
	if (!error && !cgroup2_is_used())
		error = kernel_write("1", "%s/cpuset.memory_migrate", path);
	if (error)
		return ms_fail(err,
			       "%s: a cpuset with CPUs %s and NUMA nodes %s cannot be made: %s",
			       path, cpus, nodes, strerror(-error));
	*changed += move_processes(base, "", "/" GROUP, false);
	return 0;
}

int release_cpuset(struct ms_error *err)
{
	char base[PATH_MAX], path[PATH_MAX + sizeof(GROUP)];
	int64_t deadline = clock_ms() + 5000;

	if (!cpusets_base(base, sizeof(base)))
		return 0;
	snprintf(path, sizeof(path), "%s/" GROUP, base);
	/* A process may have been forked while the others were moved. */
	while (access(path, F_OK) == 0 && rmdir(path) < 0) {
		if (clock_ms() >= deadline)
			return ms_fail(err, "%s cannot be removed: %m", path);
		move_processes(base, "/" GROUP, "", true);
		usleep(10000);
	}
	return 0;
}
