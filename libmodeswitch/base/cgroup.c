// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cgroup.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* As Slurm 22.05 makes them. The parts of names that vary have the node's name. */
static const struct {
	const char *type;
	const char *pattern;
} layouts[] = {
	{ "cgroup", "%s/slurm*/uid_*/job_%s" },
	{ "cgroup2", "%s/system.slice/*slurmstepd.scope/job_%s" },
};

static int each_match(const char *pattern, struct job_cgroup *cgroup,
		      int (*each)(const struct job_cgroup *cgroup, void *context), void *context)
{
	struct stat st;
	glob_t found;
	int ret = 0;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && ret == 0; i++) {
		cgroup->path = found.gl_pathv[i];
		/* A user may have made one of that name, where users may make any. */
		if (stat(cgroup->path, &st) == 0 && st.st_uid == 0)
			ret = each(cgroup, context);
	}
	globfree(&found);
	return ret;
}

int job_cgroups(uint32_t job_id, int (*each)(const struct job_cgroup *cgroup, void *context),
		void *context)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char pattern[PATH_MAX], job[16] = "[0-9]*";
	struct job_cgroup cgroup;
	int ret = 0;

	if (job_id != ALL_JOBS)
		snprintf(job, sizeof(job), "%u", job_id);
	if (!mounts)
		return errno;
	while (ret == 0 && (cgroup.mount = getmntent(mounts))) {
		for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts) && ret == 0; i++) {
			if (strcmp(cgroup.mount->mnt_type, layouts[i].type) != 0)
				continue;
			cgroup.version_2 = strcmp(layouts[i].type, "cgroup2") == 0;
			snprintf(pattern, sizeof(pattern), layouts[i].pattern,
				 cgroup.mount->mnt_dir, job);
			ret = each_match(pattern, &cgroup, each, context);
		}
	}
	endmntent(mounts);
	return ret;
}
