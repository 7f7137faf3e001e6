/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Slurm leaves of an ended job's cgroups. */
#ifndef SPANK_CGROUPS_H
#define SPANK_CGROUPS_H

#include <stdint.h>

/*
 * Removes the job's empty cgroups. Slurm 22.05 leaves some when two steps end at
 * the same moment (cgroup v1), and all of them when slurmstepd was killed. One
 * that has processes stays, because the kernel does not remove it.
 */
void cgroups_remove_empty(uint32_t job_id);

#endif
