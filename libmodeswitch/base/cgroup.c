// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
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

#define PARENT_VERSION_1 "/slurm*/uid_*"
#define PARENT_VERSION_2 "slurmstepd.scope"
#define SLUID_LETTERS "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#define SLUID_LENGTH 14
/* Slices can be below others, and all of them below the cgroup of a container. */
#define MOST_DEPTH 6

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* True when the first 'length' bytes of the text end with 'end'. */
static bool ends_with(const char *text, size_t length, const char *end)
{
	return length >= strlen(end) && starts_with(text + length - strlen(end), end);
}

/* Returns the length of the first name in a path, which can be followed by the end of a line. */
static size_t name_length(const char *path)
{
	return strcspn(path, "/\n");
}

/* Returns the job of a name "job_ID" of this length, else 0. */
static uint32_t job_of_name(const char *name, size_t length)
{
	uint32_t job;
	int end = 0;

	return sscanf(name, "job_%" SCNu32 "%n", &job, &end) == 1 && (size_t)end == length ? job
											   : 0;
}

static bool is_sluid(const char *name, size_t length)
{
	return length == SLUID_LENGTH && *name == 's' &&
	       strspn(name + 1, SLUID_LETTERS) == SLUID_LENGTH - 1;
}

/*
 * Returns where the name of a job's cgroup is in a path, or NULL. The first such name is Slurm's:
 * a step can make others below it.
 */
static const char *job_in_path(const char *path)
{
	const char *parent, *name = path;
	size_t parent_length;

	for (;;) {
		parent = name;
		parent_length = name_length(parent);
		if (parent[parent_length] != '/')
			return NULL;
		name = parent + parent_length + 1;
		if (ends_with(parent, parent_length, PARENT_VERSION_2) &&
		    (job_of_name(name, name_length(name)) || is_sluid(name, name_length(name))))
			return name;
		if (starts_with(parent, "uid_") && job_of_name(name, name_length(name)))
			return name;
	}
}

/* Returns the job that the title of slurmstepd, "slurmstepd: [JOB.STEP]", names; else 0. */
static uint32_t job_in_title(pid_t pid)
{
	char title[128];
	uint32_t job;

	if (kernel_read(title, sizeof(title), "/proc/%d/cmdline", pid) < 0)
		return 0;
	return sscanf(title, "slurmstepd: [%" SCNu32, &job) == 1 ? job : 0;
}

/* Returns the job of a cgroup with a SLUID for a name, a path below files_root; 0: no step runs. */
static uint32_t job_of_sluid(const char *path)
{
	char pattern[2 * PATH_MAX], pids[64];
	uint32_t job = 0;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s%s/step_*/slurm/cgroup.procs", files_root, path);
	if (glob(pattern, GLOB_NOSORT | GLOB_NOESCAPE, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !job; i++) {
		/* The first process suffices; what it forks has its title. */
		if (kernel_read(pids, sizeof(pids), "%s", found.gl_pathv[i] + strlen(files_root)) >
		    0)
			job = job_in_title(atoi(pids));
	}
	globfree(&found);
	return job;
}

/* Returns the job whose cgroup is at 'path', below files_root; 0 when it is none of a job. */
static uint32_t job_of_cgroup(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	return is_sluid(name, strlen(name)) ? job_of_sluid(path) : job_of_name(name, strlen(name));
}

int process_cgroup_find(const struct hierarchy *hierarchy, pid_t pid, uint32_t job_id,
			struct process_cgroup *found)
{
	const char *job, *step;
	uint32_t number;
	int error;

	*found->path = '\0';
	error = hierarchy_path_of_process(hierarchy, pid, found->path, sizeof(found->path));
	if (error)
		return error;
	job = job_in_path(found->path);
	number = job ? job_of_name(job, name_length(job)) : 0;
	if (!job || (number && number != job_id))
		return -ENOENT;
	found->parent = job - found->path - 1;
	found->job = job - found->path + name_length(job);
	step = found->path + found->job;
	found->step = starts_with(step, "/step_") ? found->job + 1 + name_length(step + 1) : 0;
	return 0;
}

uint32_t job_of_process(pid_t pid)
{
	static const struct hierarchy unified = { .mount = CGROUP2_MOUNT, .version_2 = true };
	char text[8192], path[PATH_MAX];
	const char *job;
	uint32_t number;

	if (kernel_read(text, sizeof(text), "/proc/%d/cgroup", pid) < 0)
		return 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		job = job_in_path(line);
		number = job ? job_of_name(job, name_length(job)) : 0;
		if (number)
			return number;
		if (!job || hierarchy_path_of_process(&unified, pid, path, sizeof(path)) < 0)
			continue;
		job = job_in_path(path);
		if (!job)
			continue;
		path[job - path + name_length(job)] = '\0';
		return job_of_cgroup(path);
	}
	return 0;
}

struct search {
	uint32_t job_id;
	struct job_cgroup cgroup;
	int (*each)(const struct job_cgroup *cgroup, void *context);
	void *context;
};

static bool is_root_s(int at, const char *name)
{
	struct stat st;

	return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == 0;
}

/* Calls each() for the jobs below a parent of jobs, a pattern below files_root. */
static int each_job(struct search *search, const char *parent)
{
	char pattern[2 * PATH_MAX];
	glob_t found;
	int ret = 0;

	snprintf(pattern, sizeof(pattern), "%s%s/[js]*", files_root, parent);
	if (glob(pattern, GLOB_NOSORT | GLOB_NOESCAPE, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && ret == 0; i++) {
		const char *path = found.gl_pathv[i] + strlen(files_root);
		uint32_t job = job_of_cgroup(path);

		if (!job || (search->job_id != ALL_JOBS && job != search->job_id) ||
		    !is_root_s(AT_FDCWD, found.gl_pathv[i]))
			continue;
		search->cgroup.path = path;
		ret = search->each(&search->cgroup, search->context);
	}
	globfree(&found);
	return ret;
}

/* Calls each() for the jobs of every scope of slurmstepd below a directory below files_root. */
static int each_scope(struct search *search, const char *directory, int depth)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *entries;
	int ret = 0;

	snprintf(path, sizeof(path), "%s%s", files_root, directory);
	entries = opendir(path);
	while (entries && ret == 0 && (entry = readdir(entries))) {
		const char *name = entry->d_name;

		if (entry->d_type != DT_DIR || *name == '.' || !is_root_s(dirfd(entries), name) ||
		    snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
			continue;
		if (ends_with(name, strlen(name), PARENT_VERSION_2))
			ret = each_job(search, path);
		else if (depth < MOST_DEPTH)
			ret = each_scope(search, path, depth + 1);
	}
	if (entries)
		closedir(entries);
	return ret;
}

int job_cgroups_each(uint32_t job_id, int (*each)(const struct job_cgroup *cgroup, void *context),
		     void *context)
{
	struct search search = { .job_id = job_id, .each = each, .context = context };
	char parent[PATH_MAX];
	FILE *mounts = open_mounts();
	struct mntent *mount;
	int ret = 0;

	if (!mounts)
		return errno;
	while (ret == 0 && (mount = getmntent(mounts))) {
		if (!is_version_2(mount) && !is_version_1(mount))
			continue;
		search.cgroup = (struct job_cgroup){ .mount = mount->mnt_dir,
						     .version_2 = is_version_2(mount) };
		search.cgroup.has_cpusets = search.cgroup.version_2 || hasmntopt(mount, "cpuset");
		snprintf(parent, sizeof(parent), "%s" PARENT_VERSION_1, mount->mnt_dir);
		ret = search.cgroup.version_2 ? each_scope(&search, mount->mnt_dir, 1)
					      : each_job(&search, parent);
	}
	endmntent(mounts);
	return ret;
}
