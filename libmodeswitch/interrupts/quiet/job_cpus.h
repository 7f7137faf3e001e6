/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs Slurm's jobs have on this node. */
#ifndef JOB_CPUS_H
#define JOB_CPUS_H

#include <hwloc.h>

/*
 * As Slurm's cgroups tell. A job's own cgroups are made only after its prolog. All CPUs when there
 * is a job whose CPUs cannot be told, because Slurm does not constrain it to them.
 */
void job_cpus(hwloc_bitmap_t cpus);

#endif
