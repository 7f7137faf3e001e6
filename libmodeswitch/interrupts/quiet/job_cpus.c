// SPDX-License-Identifier: GPL-2.0-or-later
#include "interrupts/quiet/job_cpus.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/files.h"

struct search {
	hwloc_bitmap_t cpus;
	/* Jobs in the hierarchy mounted at 'place'; a hierarchy can be mounted several times. */
	char place[PATH_MAX];
	size_t n, n_constrained, n_most;
};

/* Adds the CPUs of a cpuset. False when it names none: then it has those of its parent. */
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

/* Slurm may leave the cgroup of a job behind. Only version 2 tells whether it has processes. */
static bool is_left_over(const struct job_cgroup *cgroup)
{
	char events[128];

	return cgroup->version_2 &&
	       kernel_read(events, sizeof(events), "%s/cgroup.events", cgroup->path) > 0 &&
	       strstr(events, "populated 0");
}

static int add_job(const struct job_cgroup *cgroup, void *context)
{
	struct search *search = context;

	if (is_left_over(cgroup))
		return 0;
	if (strcmp(search->place, cgroup->mount) != 0) {
		snprintf(search->place, sizeof(search->place), "%s", cgroup->mount);
		search->n = 0;
	}
	search->n++;
	if (search->n > search->n_most)
		search->n_most = search->n;
	if (!cgroup->has_cpusets)
		return 0;
	if (search->n > search->n_constrained)
		search->n_constrained = search->n;
	/* The job may have just ended; until the next pass all CPUs count as busy. */
	if (!add_cpus_of(cgroup->path, search->cpus))
		hwloc_bitmap_fill(search->cpus);
	return 0;
}

void job_cpus(hwloc_bitmap_t cpus)
{
	struct search search = { .cpus = cpus };

	hwloc_bitmap_zero(cpus);
	/* Slurm may follow jobs without cpusets: then nothing tells their CPUs. */
	if (job_cgroups_each(ALL_JOBS, add_job, &search) != 0 ||
	    search.n_most > search.n_constrained)
		hwloc_bitmap_fill(cpus);
}
