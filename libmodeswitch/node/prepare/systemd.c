// SPDX-License-Identifier: GPL-2.0-or-later
#include "node/prepare/systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"

#define UNITS "/run/systemd/system"
#define SYSTEMCTL "/usr/bin/systemctl"
#define SYSTEMCTL_MS 120000

/*
 * systemd reads the drop-ins of all directories in the order of their file names, and the last one
 * wins. So slurmd's drop-in takes back for slurmd what all services get.
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

bool has_systemd(void)
{
	return access(UNITS, F_OK) == 0;
}

static void drop_in_text(const struct drop_in *drop_in, const char *cpus, const char *nodes,
			 char *text, size_t size)
{
	if (drop_in->left_out)
		cpus = nodes = "";
	if (cgroup2_is_used())
		snprintf(text, size, "[%s]\nAllowedCPUs=%s\nAllowedMemoryNodes=%s\n",
			 drop_in->section, cpus, nodes);
	else
		snprintf(text, size, "[%s]\nCPUAffinity=%s\nNUMAPolicy=%s\nNUMAMask=%s\n",
			 drop_in->section, cpus, *nodes ? "bind" : "", nodes);
}

/* With cgroup version 1 only services can be bound, not slices and scopes. */
static bool applies(const struct drop_in *drop_in)
{
	return cgroup2_is_used() || strcmp(drop_in->section, "Service") == 0;
}

static int write_drop_in(const struct drop_in *drop_in, const char *text, unsigned *changed,
			 struct ms_error *err)
{
	char path[PATH_MAX], found[8192];
	bool written;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", drop_in->dir, drop_in->file);
	/* kernel_read() takes the last newline off. */
	if (kernel_read(found, sizeof(found), "%s", path) > 0 &&
	    strncmp(found, text, strlen(found)) == 0 && strlen(text) == strlen(found) + 1)
		return 0;
	if (mkdir(drop_in->dir, 0755) < 0 && errno != EEXIST)
		return ms_fail(err, "%s: %m", drop_in->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return ms_fail(err, "%s: %m", path);
	written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (close(fd) < 0 || !written)
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

int keep_by_systemd(const char *cpus, const char *nodes, unsigned *changed, struct ms_error *err)
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

/* Reads a list of the kernel's; "" when it cannot be read. */
static const char *all_of(const char *path, char *text, size_t size)
{
	if (kernel_read(text, size, "%s", path) < 0)
		*text = '\0';
	return text;
}

/*
 * A cpuset of version 2 that has processes cannot be made empty again, which would mean the
 * parent's CPUs and nodes. So it gets all CPUs and nodes of the machine.
 */
static int widen(struct ms_error *err)
{
	char cpus[4096], nodes[4096];
	unsigned changed = 0;

	all_of("/sys/devices/system/cpu/possible", cpus, sizeof(cpus));
	all_of("/sys/devices/system/node/has_memory", nodes, sizeof(nodes));
	return keep_by_systemd(cpus, nodes, &changed, err);
}

int release_systemd(struct ms_error *err)
{
	char path[PATH_MAX];
	bool any = false;

	if (access(UNITS "/service.d/10-slurm-lwk.conf", F_OK) == 0 && cgroup2_is_used() &&
	    widen(err) < 0)
		return -1;
	for (size_t i = 0; i < N_DROP_INS; i++) {
		snprintf(path, sizeof(path), "%s/%s", drop_ins[i].dir, drop_ins[i].file);
		if (unlink(path) == 0)
			any = true;
		else if (errno != ENOENT)
			return ms_fail(err, "%s: %m", path);
		/* The directory stays when others have drop-ins there. */
		rmdir(drop_ins[i].dir);
	}
	return any ? reload_systemd(err) : 0;
}
