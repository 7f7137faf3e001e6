/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repairs what Slurm does with a job's cgroups. */
#ifndef SPANK_CGROUPS_H
#define SPANK_CGROUPS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Removes the job's empty cgroups. Slurm 22.05 leaves some when two steps end at the same moment
 * (cgroup version 1), and all of them when slurmstepd was killed. A cgroup with processes stays,
 * because the kernel does not remove it. Logs when one that the user has made stays.
 */
void cgroups_remove_empty(uint32_t job_id);

/*
 * Gives a step's cgroups of version 1 to root. Slurm 22.05 gives them to the user, who could make
 * others below them and move proxies there, out of the job's limits and of Slurm's sight. Removes those
 * that he has made, also because he may have opened their files; their processes go to the step's
 * cgroup. Logs when that fails.
 */
void cgroups_take(uint32_t job_id);

/*
 * Names the nodes in the cpuset of a task, of an LWK job or not, for Slurm leaves it empty (see
 * base/cpusets.h). Logs when that fails, to slurmd's log only.
 */
void cgroups_name_nodes(pid_t pid);

#endif
