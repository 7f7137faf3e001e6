/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a job's proxies: what they may use of Linux on this node, together.
 */
#ifndef MODESWITCH_LIMITS_H
#define MODESWITCH_LIMITS_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <modeswitch/error.h>

/* What the proxies of a job may use of Linux on this node, together. */
struct ms_limits {
	bool required;	      /* without these limits there shall be no LWK job */
	hwloc_bitmap_t cpus;  /* the job's own, or the OS CPUs */
	hwloc_bitmap_t nodes; /* NUMA nodes, near these CPUs */
	uint64_t memory;      /* bytes */
	uint64_t memory_max;  /* bytes: what the user may ask for */
	unsigned pids;	      /* processes and threads */
	/*
	 * Of one CPU, for all jobs together whose proxies share the OS CPUs; 0: no limit, as they
	 * have CPUs of their own.
	 */
	unsigned cpu_percent;
	/* Against whoever else wants those: of an ordinary cgroup's weight; 0: as much. */
	unsigned weight_percent;
};

struct ms_job;

/*
 * With cgroup version 2: limits the tasks of a step, of which 'pid' is one, by the cgroups that
 * Slurm made for them, before they begin. A batch script ('is_step' is false) has the job's limits
 * only, those of CPU time and processes. With version 1 there is nothing to do here. Root.
 */
int ms_limits_step(const struct ms_job *job, pid_t pid, bool is_step, struct ms_error *err);

/* How many proxies have been killed because they were over their limit of memory; 'pid' as above. */
uint64_t ms_limits_kills(const struct ms_job *job, pid_t pid);

/* A job has ended: what jobs share on the OS CPUs is for those that are left. Root. */
void ms_limits_share(void);

#endif
