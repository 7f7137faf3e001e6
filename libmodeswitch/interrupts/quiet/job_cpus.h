/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs that jobs of Slurm have on this node. */
#ifndef JOB_CPUS_H
#define JOB_CPUS_H

#include <hwloc.h>

/*
 * Sets 'cpus' to the CPUs of all jobs, as Slurm's cgroups tell; a job has none before the end of
 * its prolog. Sets it to all CPUs when Slurm does not constrain some job to its CPUs.
 */
void job_cpus(hwloc_bitmap_t cpus);

#endif
