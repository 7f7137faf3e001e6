// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes, opens and removes the cgroups of version 1 for the proxies of a job.
 */
#include "limits/cgroup_v1.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/files.h"
#include "limits/controllers.h"
#include "limits/libcgroup.h"
#include "limits/limits.h"

#define ROOT "slurm-lwk"
#define SHARED ROOT "/shared"
#define PERIOD_US 100000
#define ORDINARY_SHARES 1024
#define NAME_SIZE 64
#define PATH_SIZE 4096
#define REMOVE_MS 2000

static void name_of(uint32_t job_id, bool shared, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%s/job_%u", shared ? SHARED : ROOT, job_id);
}

static bool is_shared(const struct ms_limits *limits)
{
	return limits->cpu_percent;
}

static char *list_text(hwloc_const_bitmap_t list)
{
	char *text = NULL;

	return hwloc_bitmap_list_asprintf(&text, list) < 0 ? NULL : text;
}

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

/* The list of a parent cpuset, widened by what its children get; free(). NULL without memory. */
static char *widened(const char *mount, const char *name, const char *file,
		     hwloc_const_bitmap_t list)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc();
	char path[PATH_SIZE], *text;

	snprintf(path, sizeof(path), "%s/%s/%s", mount, name, file);
	if (all && kernel_read_list(all, path) < 0)
		hwloc_bitmap_zero(all);
	if (all)
		hwloc_bitmap_or(all, all, list);
	text = all ? list_text(all) : NULL;
	hwloc_bitmap_free(all);
	return text;
}

static void free_settings(struct setting *settings)
{
	for (; settings->file; settings++)
		free(settings->value);
}

static int make_parents(const char *controller, const char *mount, const struct ms_limits *limits,
			struct ms_error *err)
{
	static const char *const names[] = { ROOT, SHARED };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < (is_shared(limits) ? 2 : 1); i++) {
		struct setting settings[3] = { 0 };

		if (strcmp(controller, "cpuset") == 0) {
			settings[0] = (struct setting){
				"cpuset.cpus", widened(mount, names[i], "cpuset.cpus", limits->cpus)
			};
			settings[1] = (struct setting){ "cpuset.mems",
							widened(mount, names[i], "cpuset.mems",
								limits->nodes) };
		} else if (i == 0 && is_shared(limits) && strcmp(controller, "cpu") == 0) {
			/* The weight counts here, where other services and jobs compete. */
			settings[0] = (struct setting){
				"cpu.shares",
				text_of("%u", limits->weight_percent * ORDINARY_SHARES / 100)
			};
		} else if (i == 1 && strcmp(controller, "cpu") == 0) {
			settings[0] =
				(struct setting){ "cpu.cfs_period_us", text_of("%d", PERIOD_US) };
			settings[1] = (struct setting){ "cpu.cfs_quota_us",
							text_of("%u", limits->cpu_percent *
									      (PERIOD_US / 100)) };
		}
		ret = libcgroup_make(controller, names[i], settings, err);
		free_settings(settings);
	}
	return ret;
}

static int make_job_group(uint32_t job_id, const char *controller, const struct ms_limits *limits,
			  struct ms_error *err)
{
	struct setting settings[3] = { 0 };
	char name[NAME_SIZE];
	int ret;

	if (strcmp(controller, "cpuset") == 0) {
		settings[0] = (struct setting){ "cpuset.cpus", list_text(limits->cpus) };
		settings[1] = (struct setting){ "cpuset.mems", list_text(limits->nodes) };
	} else if (strcmp(controller, "memory") == 0) {
		settings[0] = (struct setting){ "memory.limit_in_bytes",
						text_of("%ju", (uintmax_t)limits->memory) };
	} else if (strcmp(controller, "pids") == 0) {
		settings[0] = (struct setting){ "pids.max", text_of("%u", limits->pids) };
	}
	name_of(job_id, is_shared(limits), name);
	ret = libcgroup_make(controller, name, settings, err);
	free_settings(settings);
	return ret;
}

int limits_make(uint32_t job_id, const struct ms_limits *limits, struct ms_error *err)
{
	int ret = controllers_check(limits, err);

	if (ret < 0 || cgroup2_is_used())
		return ret;
	for (size_t i = 0; ret == 0 && i < LIMITS_MAX_GROUPS; i++) {
		char *mount = controller_mount(controllers[i]);

		if (mount && (make_parents(controllers[i], mount, limits, err) < 0 ||
			      make_job_group(job_id, controllers[i], limits, err) < 0))
			ret = -1;
		free(mount);
	}
	return ret;
}

int limits_open(uint32_t job_id, const struct ms_limits *limits, int fds[LIMITS_MAX_GROUPS],
		struct ms_error *err)
{
	char name[NAME_SIZE], path[PATH_SIZE];
	int n = 0;

	if (cgroup2_is_used())
		return 0;
	name_of(job_id, is_shared(limits), name);
	for (size_t i = 0; i < LIMITS_MAX_GROUPS; i++) {
		char *mount = controller_mount(controllers[i]);

		if (!mount)
			continue;
		snprintf(path, sizeof(path), "%s/%s/cgroup.procs", mount, name);
		free(mount);
		fds[n] = open(path, O_WRONLY | O_CLOEXEC);
		if (fds[n] < 0) {
			ms_fail(err, "%s: %m", path);
			while (n > 0)
				close(fds[--n]);
			return -1;
		}
		n++;
	}
	return n;
}

int cgroup_v1_enter(uint32_t job_id, const struct ms_limits *limits, pid_t pid,
		    struct ms_error *err)
{
	int fds[LIMITS_MAX_GROUPS], n = limits_open(job_id, limits, fds, err), ret = n < 0 ? -1 : 0;
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", pid);

	for (int i = 0; i < n; i++) {
		if (ret == 0 && write(fds[i], text, length) != length)
			ret = ms_fail(err, "process %d cannot be moved into its job's cgroup: %m",
				      pid);
		close(fds[i]);
	}
	return ret;
}

/* Waits for proxies, which end with their instance; processes that stay go to the parent. */
static int remove_group(const char *controller, const char *path, const char *name,
			struct ms_error *err)
{
	int64_t deadline = clock_ms() + REMOVE_MS;

	while (rmdir(path) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || clock_ms() >= deadline)
			break;
		usleep(10000);
	}
	return access(path, F_OK) < 0 ? 0 : libcgroup_remove(controller, name, err);
}

static int remove_groups(uint32_t job_id, const char *controller, const char *mount,
			 struct ms_error *err)
{
	char name[NAME_SIZE], path[PATH_SIZE];
	int ret = 0;

	for (int shared = 0; shared < 2; shared++) {
		name_of(job_id, shared, name);
		snprintf(path, sizeof(path), "%s/%s", mount, name);
		if (remove_group(controller, path, name, err) < 0)
			ret = -1;
	}
	/* Parents with groups of other jobs stay. */
	snprintf(path, sizeof(path), "%s/" SHARED, mount);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/" ROOT, mount);
	rmdir(path);
	return ret;
}

int limits_remove(uint32_t job_id, struct ms_error *err)
{
	int ret = 0;

	if (cgroup2_is_used())
		return 0;
	for (size_t i = 0; i < LIMITS_MAX_GROUPS; i++) {
		char *mount = controller_mount(controllers[i]);

		if (mount && remove_groups(job_id, controllers[i], mount, err) < 0)
			ret = -1;
		free(mount);
	}
	return ret;
}

/* Removes the groups of all jobs below 'parent'. */
static int remove_found(const char *mount, const char *parent, struct ms_error *err)
{
	char path[PATH_SIZE];
	uint32_t job_id;
	glob_t found;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/%s/job_*", mount, parent);
	if (glob(path, GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (sscanf(strrchr(found.gl_pathv[i], '/'), "/job_%" SCNu32, &job_id) == 1 &&
		    limits_remove(job_id, err) < 0)
			ret = -1;
	}
	globfree(&found);
	return ret;
}

int limits_remove_all(struct ms_error *err)
{
	int ret = 0;

	if (cgroup2_is_used())
		return 0;
	for (size_t i = 0; i < LIMITS_MAX_GROUPS; i++) {
		char *mount = controller_mount(controllers[i]);

		if (mount &&
		    (remove_found(mount, ROOT, err) < 0 || remove_found(mount, SHARED, err) < 0))
			ret = -1;
		free(mount);
	}
	return ret;
}

char *cgroup_v1_path(uint32_t job_id, const char *controller, const char *file)
{
	static const bool places[] = { false, true };
	char *mount = controller_mount(controller), *path = NULL;

	if (!mount)
		return NULL;
	for (size_t i = 0; i < 2 && !path; i++) {
		char name[NAME_SIZE];

		name_of(job_id, places[i], name);
		path = text_of("%s/%s/%s", mount, name, file);
		if (path && access(path, F_OK) < 0) {
			free(path);
			path = NULL;
		}
	}
	free(mount);
	return path;
}
