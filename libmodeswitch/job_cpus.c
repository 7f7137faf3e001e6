// SPDX-License-Identifier: GPL-2.0-or-later
#include "job_cpus.h"

#include <glob.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "files.h"

/*
 * Where jobs are below a hierarchy. The parts of names that vary have the node's name. With version 1
 * proctrack/cgroup has all jobs in the freezer, whether they have cpusets or not.
 */
static const struct {
	const char *type;
	const char *option; /* NULL: it has all controllers */
	bool cpusets;
	const char *pattern;
} layouts[] = {
	{ "cgroup", "cpuset", true, "%s/slurm*/uid_*/job_*" },
	{ "cgroup", "freezer", false, "%s/slurm*/uid_*/job_*" },
	{ "cgroup2", NULL, true, "%s/system.slice/*slurmstepd.scope/job_*" },
};

/* Also "" is no answer: then it has those of the cgroup above, all for all we know. */
static bool add_cpus_of(const char *directory, hwloc_bitmap_t cpus)
{
	hwloc_bitmap_t own = hwloc_bitmap_alloc();
	char path[PATH_MAX + 16];
	bool found;

	snprintf(path, sizeof(path), "%s/cpuset.cpus", directory);
	found = own && kernel_read_list(own, path) == 0 && !hwloc_bitmap_iszero(own);
	if (found)
		hwloc_bitmap_or(cpus, cpus, own);
	hwloc_bitmap_free(own);
	return found;
}

/* How many jobs there are. */
static size_t look_at(const char *directory, const char *format, bool cpusets, hwloc_bitmap_t cpus)
{
	char pattern[PATH_MAX];
	glob_t found;
	size_t n;

	snprintf(pattern, sizeof(pattern), format, directory);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	n = found.gl_pathc;
	for (size_t i = 0; cpusets && i < n; i++) {
		/* It may have ended just now: then some are taken for busy until the next look. */
		if (!add_cpus_of(found.gl_pathv[i], cpus))
			hwloc_bitmap_fill(cpus);
	}
	globfree(&found);
	return n;
}

void job_cpus(hwloc_bitmap_t cpus)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	size_t n_constrained = 0, n_most = 0;
	struct mntent *mount;

	hwloc_bitmap_zero(cpus);
	while (mounts && (mount = getmntent(mounts))) {
		for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
			size_t n;

			if (strcmp(mount->mnt_type, layouts[i].type) != 0 ||
			    (layouts[i].option && !hasmntopt(mount, layouts[i].option)))
				continue;
			n = look_at(mount->mnt_dir, layouts[i].pattern, layouts[i].cpusets, cpus);
			n_most = n > n_most ? n : n_most;
			n_constrained = layouts[i].cpusets && n > n_constrained ? n : n_constrained;
		}
	}
	if (mounts)
		endmntent(mounts);
	/* Slurm follows jobs, but not by cpusets. */
	if (!mounts || n_most > n_constrained)
		hwloc_bitmap_fill(cpus);
}
