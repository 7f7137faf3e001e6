/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where Slurm has the cgroups of its jobs. Also part of the SPANK plugin. */
#ifndef JOB_CGROUPS_H
#define JOB_CGROUPS_H

#include <mntent.h>
#include <stdbool.h>
#include <stdint.h>

#define ALL_JOBS 0

/* What 'each' gets is gone when it returns. */
struct job_cgroup {
	const char *path;
	const struct mntent *mount; /* of its hierarchy; those of one come one after the other */
	bool version_2;
};

/*
 * Calls 'each' for the directory of the job's cgroup, or of each job's, in every hierarchy, until
 * one call returns less than 0; returns that, or errno when it cannot be read what is mounted. What a
 * user made is not among them.
 */
int job_cgroups(uint32_t job_id, int (*each)(const struct job_cgroup *cgroup, void *context),
		void *context);

#endif
