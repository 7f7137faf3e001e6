// SPDX-License-Identifier: GPL-2.0-or-later
#include "node/prepare/services.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"

#define UNITS "/run/systemd/system"
#define SYSTEMCTL "/usr/bin/systemctl"
#define SYSTEMCTL_MS 120000
#define CGROUP2 "/sys/fs/cgroup"
#define GROUP "slurm-lwk-system"

/*
 * Drop-ins of all directories are read in the order of their file names, and what comes later
 * wins: so slurmd, which is a service too, is left out.
 */
static const struct drop_in {
	const char *dir, *file, *section;
	bool left_out;
} drop_ins[] = {
	{ UNITS "/service.d", "10-slurm-lwk.conf", "Service", false },
	{ UNITS "/slurmd.service.d", "20-slurm-lwk.conf", "Service", true },
	{ UNITS "/user.slice.d", "10-slurm-lwk.conf", "Slice", false },
	{ UNITS "/init.scope.d", "10-slurm-lwk.conf", "Scope", false },
};
#define N_DROP_INS (sizeof(drop_ins) / sizeof(*drop_ins))

static bool has_systemd(void)
{
	return access(UNITS, F_OK) == 0;
}

static bool has_cgroup2(void)
{
	return access(CGROUP2 "/cgroup.controllers", F_OK) == 0;
}

static void drop_in_text(const struct drop_in *drop_in, const char *cpus, const char *nodes,
			 char *text, size_t size)
{
	if (drop_in->left_out)
		cpus = nodes = "";
	if (has_cgroup2())
		snprintf(text, size, "[%s]\nAllowedCPUs=%s\nAllowedMemoryNodes=%s\n",
			 drop_in->section, cpus, nodes);
	else
		snprintf(text, size, "[%s]\nCPUAffinity=%s\nNUMAPolicy=%s\nNUMAMask=%s\n",
			 drop_in->section, cpus, *nodes ? "bind" : "", nodes);
}

/* Version 1 knows no memory nodes of slices and scopes, only the services' own policy. */
static bool applies(const struct drop_in *drop_in)
{
	return has_cgroup2() || strcmp(drop_in->section, "Service") == 0;
}

static int write_drop_in(const struct drop_in *drop_in, const char *text, unsigned *changed,
			 struct ms_error *err)
{
	char path[PATH_MAX], found[8192];
	bool written;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", drop_in->dir, drop_in->file);
	/* kernel_read() takes the last newline off. */
	if (kernel_read(found, sizeof(found), "%s", path) > 0 &&
	    strncmp(found, text, strlen(found)) == 0 && strlen(text) == strlen(found) + 1)
		return 0;
	if (mkdir(drop_in->dir, 0755) < 0 && errno != EEXIST)
		return ms_fail(err, "%s: %m", drop_in->dir);
	file = fopen(path, "we");
	if (!file)
		return ms_fail(err, "%s: %m", path);
	written = fputs(text, file) >= 0;
	if (fclose(file) != 0 || !written)
		return ms_fail(err, "%s: %m; make room there and run it again", path);
	(*changed)++;
	return 0;
}

static int reload_systemd(struct ms_error *err)
{
	const char *const argv[] = { SYSTEMCTL, "daemon-reload", NULL };
	char output[512];
	int status = child_run(argv, clock_ms() + SYSTEMCTL_MS, output, sizeof(output));

	if (status == 0)
		return 0;
	return ms_fail(err, "systemctl daemon-reload failed: %s",
		       status < 0 ? strerror(-status) : output);
}

static int keep_by_systemd(const char *cpus, const char *nodes, unsigned *changed,
			   struct ms_error *err)
{
	char text[8192];

	for (size_t i = 0; i < N_DROP_INS; i++) {
		if (!applies(&drop_ins[i]))
			continue;
		drop_in_text(&drop_ins[i], cpus, nodes, text, sizeof(text));
		if (write_drop_in(&drop_ins[i], text, changed, err) < 0)
			return -1;
	}
	return *changed ? reload_systemd(err) : 0;
}

/* The kernel's own list, "" when it has none. */
static const char *all_of(const char *path, char *text, size_t size)
{
	if (kernel_read(text, size, "%s", path) < 0)
		*text = '\0';
	return text;
}

/*
 * A cpuset of version 2 that has processes can be widened, but not be made empty again, which
 * would mean "as the parent": so it gets all there is.
 */
static int widen(struct ms_error *err)
{
	char cpus[4096], nodes[4096];
	unsigned changed = 0;

	all_of("/sys/devices/system/cpu/possible", cpus, sizeof(cpus));
	all_of("/sys/devices/system/node/has_memory", nodes, sizeof(nodes));
	return keep_by_systemd(cpus, nodes, &changed, err);
}

static int release_systemd(struct ms_error *err)
{
	char path[PATH_MAX];
	bool any = false;

	if (access(UNITS "/service.d/10-slurm-lwk.conf", F_OK) == 0 && has_cgroup2() &&
	    widen(err) < 0)
		return -1;
	for (size_t i = 0; i < N_DROP_INS; i++) {
		snprintf(path, sizeof(path), "%s/%s", drop_ins[i].dir, drop_ins[i].file);
		if (unlink(path) == 0)
			any = true;
		else if (errno != ENOENT)
			return ms_fail(err, "%s: %m", path);
		/* Others may have drop-ins there. */
		rmdir(drop_ins[i].dir);
	}
	return any ? reload_systemd(err) : 0;
}

/* ---- a cpuset for the processes that run now ---- */

/* Where the version 1 cpusets are mounted. */
static bool find_cpusets(char *path, size_t size)
{
	struct mntent *mount, buffer;
	char text[8192];
	bool found = false;
	FILE *mounts = setmntent("/proc/self/mounts", "re");

	while (mounts && !found && (mount = getmntent_r(mounts, &buffer, text, sizeof(text)))) {
		found = strcmp(mount->mnt_type, "cgroup") == 0 && hasmntopt(mount, "cpuset");
		if (found)
			snprintf(path, size, "%s", mount->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Where the cpusets are; NULL: nowhere. */
static const char *cpusets_base(char *path, size_t size)
{
	if (find_cpusets(path, size))
		return path;
	if (!has_cgroup2())
		return NULL;
	snprintf(path, size, CGROUP2);
	return path;
}

/* The name and the parent of a process; false: there is none, or it is of the kernel. */
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
	/* proc(5): after the name come state, parent, group, session, terminal, its group, flags. */
	if (sscanf(end + 1, " %*c %d %*d %*d %*d %*d %lu", parent, &flags) != 2)
		return false;
	return !(flags & 0x00200000); /* PF_KTHREAD */
}

/*
 * Jobs are below slurmd. What the administrator starts from a shell (slurmd, say) must not be
 * bound, nor what the first process starts: so those stay where they are, and all below sshd.
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

/* Moves processes from 'from' to 'to', both below 'base'; all, or those that may be bound. */
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
		/* It may have ended meanwhile. */
		moved += kernel_write(line, "%s%s/cgroup.procs", base, to) == 0;
	}
	if (processes)
		fclose(processes);
	return moved;
}

static int keep_by_cpuset(const char *base, const char *cpus, const char *nodes, unsigned *changed,
			  struct ms_error *err)
{
	char path[PATH_MAX + sizeof(GROUP)];
	int error;

	snprintf(path, sizeof(path), "%s/" GROUP, base);
	if (has_cgroup2())
		kernel_write("+cpuset", CGROUP2 "/cgroup.subtree_control");
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return ms_fail(err, "%s: %m", path);
	error = kernel_write(cpus, "%s/cpuset.cpus", path);
	if (!error)
		error = kernel_write(nodes, "%s/cpuset.mems", path);
	/* What they have already moves too; version 2 does so always. */
	if (!error && !has_cgroup2())
		error = kernel_write("1", "%s/cpuset.memory_migrate", path);
	if (error)
		return ms_fail(err,
			       "%s: a cpuset with CPUs %s and NUMA nodes %s cannot be made: %s",
			       path, cpus, nodes, strerror(-error));
	*changed += move_processes(base, "", "/" GROUP, false);
	return 0;
}

static int release_cpuset(struct ms_error *err)
{
	char base[PATH_MAX], path[PATH_MAX + sizeof(GROUP)];
	int64_t deadline = clock_ms() + 5000;

	if (!cpusets_base(base, sizeof(base)))
		return 0;
	snprintf(path, sizeof(path), "%s/" GROUP, base);
	/* Until none has been forked while the others were moved. */
	while (access(path, F_OK) == 0 && rmdir(path) < 0) {
		if (clock_ms() >= deadline)
			return ms_fail(err, "%s cannot be removed: %m", path);
		move_processes(base, "/" GROUP, "", true);
		usleep(10000);
	}
	return 0;
}

static const char *keep(const char *cpus, const char *nodes, bool dry_run, unsigned *changed,
			struct ms_error *err)
{
	char path[PATH_MAX];
	const char *base = NULL;

	if (!has_systemd() || !has_cgroup2())
		base = cpusets_base(path, sizeof(path));
	if (!has_systemd() && !base) {
		ms_fail(err, "there is neither systemd nor a hierarchy of cpusets; start the "
			     "services under numactl(8)");
		return NULL;
	}
	if (!dry_run && has_systemd() && keep_by_systemd(cpus, nodes, changed, err) < 0)
		return NULL;
	if (!dry_run && base && keep_by_cpuset(base, cpus, nodes, changed, err) < 0)
		return NULL;
	if (!has_systemd())
		return "a cpuset; it has what runs now, and what that starts";
	if (!has_cgroup2())
		return "systemd, services started from now on; what runs now by a cpuset";
	return "systemd, all services but slurmd";
}

const char *services_keep(hwloc_const_bitmap_t cpus, hwloc_const_bitmap_t nodes, bool dry_run,
			  unsigned *changed, struct ms_error *err)
{
	char *cpu_list = NULL, *node_list = NULL;
	const char *how = NULL;

	*changed = 0;
	if (hwloc_bitmap_list_asprintf(&cpu_list, cpus) < 0 ||
	    hwloc_bitmap_list_asprintf(&node_list, nodes) < 0)
		ms_fail(err, "out of memory");
	else
		how = keep(cpu_list, node_list, dry_run, changed, err);
	free(cpu_list);
	free(node_list);
	return how;
}

int services_release(struct ms_error *err)
{
	int ret = release_cpuset(err);

	return release_systemd(err) < 0 ? -1 : ret;
}
