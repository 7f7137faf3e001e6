// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups.h"

#include <errno.h>
#include <ftw.h>
#include <unistd.h>

#include "base/cgroup.h"

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
	/* A file that has gone meanwhile needs no owner; another failure ends the walk. */
	return status->st_uid != 0 && lchown(path, 0, 0) < 0 && errno != ENOENT;
}

static int walk(const struct job_cgroup *cgroup, void *visit)
{
	nftw(cgroup->path, *(__nftw_func_t *)visit, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS);
	return 0;
}

void cgroups_remove_empty(uint32_t job_id)
{
	__nftw_func_t visit = remove_directory;

	job_cgroups_each(job_id, walk, &visit);
}

void cgroups_take(uint32_t job_id)
{
	__nftw_func_t visit = take;

	job_cgroups_each(job_id, walk, &visit);
}
