// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups.h"

#include <ftw.h>
#include <glob.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPEN_DIRECTORIES 8

static int remove_directory(const char *path, const struct stat *status, int type,
			    struct FTW *where)
{
	if (type == FTW_DP)
		rmdir(path);
	return 0;
}

static int take(const char *path, const struct stat *status, int type, struct FTW *where)
{
	if (status->st_uid != 0)
		lchown(path, 0, 0);
	return 0;
}

/* Where jobs are below a hierarchy. The parts of names that vary have the node's name. */
static const struct {
	const char *type;
	const char *pattern;
} layouts[] = {
	{ "cgroup", "%s/slurm*/uid_*/job_%u" },
	{ "cgroup2", "%s/system.slice/*slurmstepd.scope/job_%u" },
};

static void walk_matching(const char *pattern, __nftw_func_t visit)
{
	glob_t found;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		nftw(found.gl_pathv[i], visit, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS);
	globfree(&found);
}

static void walk(uint32_t job_id, __nftw_func_t visit)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	char pattern[4096];

	if (!mounts)
		return;
	while ((mount = getmntent(mounts))) {
		for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
			if (strcmp(mount->mnt_type, layouts[i].type))
				continue;
			snprintf(pattern, sizeof(pattern), layouts[i].pattern, mount->mnt_dir,
				 job_id);
			walk_matching(pattern, visit);
		}
	}
	endmntent(mounts);
}

void cgroups_remove_empty(uint32_t job_id)
{
	walk(job_id, remove_directory);
}

void cgroups_take(uint32_t job_id)
{
	walk(job_id, take);
}
