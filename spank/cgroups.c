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

static void remove_below(const char *hierarchy, uint32_t job_id)
{
	char pattern[4096];
	glob_t found;

	/* "slurm", or "slurm_NODE" where several slurmd share a machine. */
	snprintf(pattern, sizeof(pattern), "%s/slurm*/uid_*/job_%u", hierarchy, job_id);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		nftw(found.gl_pathv[i], remove_directory, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS);
	globfree(&found);
}

void cgroups_remove_empty(uint32_t job_id)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;

	if (!mounts)
		return;
	while ((mount = getmntent(mounts))) {
		if (!strcmp(mount->mnt_type, "cgroup"))
			remove_below(mount->mnt_dir, job_id);
	}
	endmntent(mounts);
}
