/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroups that Slurm makes for a job. */
#ifndef SPANK_CGROUPS_H
#define SPANK_CGROUPS_H

#include <stdint.h>

/*
 * Removes the job's empty cgroups. Slurm 22.05 leaves some when two steps end at
 * the same moment (cgroup v1), and all of them when slurmstepd was killed. One
 * that has processes stays, because the kernel does not remove it.
 */
void cgroups_remove_empty(uint32_t job_id);

/*
 * Slurm 22.05 gives a step's cgroups of version 1 to the user, who could make others below them
 * and move proxies there, out of the job's limits and of Slurm's sight. They become root's.
 */
void cgroups_take(uint32_t job_id);

#endif
