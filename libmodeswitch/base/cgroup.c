// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cgroup.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"

bool cgroup2_is_used(void)
{
	char ignored[1024];

	return kernel_read(ignored, sizeof(ignored), CGROUP2_MOUNT "/cgroup.controllers") >= 0;
}

/* ---- hierarchies ---- */

static FILE *open_mounts(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/self/mounts", files_root);
	return setmntent(path, "re");
}

static bool is_version_1(const struct mntent *mount)
{
	return strcmp(mount->mnt_type, "cgroup") == 0;
}

static bool is_version_2(const struct mntent *mount)
{
	return strcmp(mount->mnt_type, "cgroup2") == 0;
}

int hierarchy_find(const char *controller, struct hierarchy *hierarchy)
{
	FILE *mounts = open_mounts();
	struct mntent *mount;
	bool found = false, version_1 = false;

	if (!mounts)
		return -errno;
	while (!version_1 && (mount = getmntent(mounts))) {
		version_1 = is_version_1(mount) && hasmntopt(mount, controller);
		if (!version_1 && (found || !is_version_2(mount)))
			continue;
		found = true;
		snprintf(hierarchy->mount, sizeof(hierarchy->mount), "%s", mount->mnt_dir);
	}
	endmntent(mounts);
	hierarchy->version_2 = !version_1;
	hierarchy->controller = controller;
	return found ? 0 : -ENOENT;
}

/*
 * Returns the path in a line of /proc/PID/cgroup, "N:CONTROLLERS:PATH", or NULL if the line is of
 * another hierarchy. The line of version 2 names no controllers.
 */
static const char *path_in_line(const struct hierarchy *hierarchy, char *line)
{
	char *controllers = strchr(line, ':'), *path, *one;

	path = controllers ? strchr(++controllers, ':') : NULL;
	if (!path)
		return NULL;
	*path++ = '\0';
	if (hierarchy->version_2)
		return *controllers ? NULL : path;
	while ((one = strsep(&controllers, ","))) {
		if (strcmp(one, hierarchy->controller) == 0)
			return path;
	}
	return NULL;
}

int hierarchy_path_of_process(const struct hierarchy *hierarchy, pid_t pid, char *path, size_t size)
{
	char text[8192], *rest = text, *line;
	int got = kernel_read(text, sizeof(text), "/proc/%d/cgroup", pid);

	if (got < 0)
		return got == -ESRCH ? -ENOENT : got;
	while ((line = strsep(&rest, "\n"))) {
		const char *found = path_in_line(hierarchy, line);

		if (found)
			return snprintf(path, size, "%s%s", hierarchy->mount, found) < (int)size
				       ? 0
				       : -ENAMETOOLONG;
	}
	return -ENOENT;
}

/* ---- jobs of Slurm ---- */

/* The places of Slurm 22.05's cgroups. The parts of names that vary contain the node's name. */
#define JOB_VERSION_1 "/slurm*/uid_*/job_"
#define JOB_VERSION_2 "/system.slice/*slurmstepd.scope/job_"

uint32_t job_of_process(pid_t pid)
{
	char text[8192], rest;
	const char *part;
	uint32_t job;

	if (kernel_read(text, sizeof(text), "/proc/%d/cgroup", pid) < 0)
		return 0;
	/* The first such name is Slurm's; a step can make others below it. */
	for (part = strstr(text, "/job_"); part; part = strstr(part + 1, "/job_")) {
		rest = '\n'; /* the end of the last line */
		if (sscanf(part, "/job_%" SCNu32 "%c", &job, &rest) >= 1 &&
		    (rest == '/' || rest == '\n'))
			return job;
	}
	return 0;
}

static int each_match(const char *pattern, struct job_cgroup *cgroup,
		      int (*each)(const struct job_cgroup *cgroup, void *context), void *context)
{
	struct stat st;
	glob_t found;
	int ret = 0;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && ret == 0; i++) {
		if (stat(found.gl_pathv[i], &st) < 0 || st.st_uid != 0)
			continue;
		cgroup->path = found.gl_pathv[i] + strlen(files_root);
		ret = each(cgroup, context);
	}
	globfree(&found);
	return ret;
}

int job_cgroups_each(uint32_t job_id, int (*each)(const struct job_cgroup *cgroup, void *context),
		     void *context)
{
	char pattern[2 * PATH_MAX], job[16] = "[0-9]*";
	FILE *mounts = open_mounts();
	struct mntent *mount;
	int ret = 0;

	if (job_id != ALL_JOBS)
		snprintf(job, sizeof(job), "%u", job_id);
	if (!mounts)
		return errno;
	while (ret == 0 && (mount = getmntent(mounts))) {
		struct job_cgroup cgroup = { .mount = mount->mnt_dir,
					     .version_2 = is_version_2(mount) };

		if (!cgroup.version_2 && !is_version_1(mount))
			continue;
		cgroup.has_cpusets = cgroup.version_2 || hasmntopt(mount, "cpuset");
		snprintf(pattern, sizeof(pattern), "%s%s%s%s", files_root, mount->mnt_dir,
			 cgroup.version_2 ? JOB_VERSION_2 : JOB_VERSION_1, job);
		ret = each_match(pattern, &cgroup, each, context);
	}
	endmntent(mounts);
	return ret;
}
