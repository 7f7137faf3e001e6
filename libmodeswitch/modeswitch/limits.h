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

/* Limits of all proxies of a job together on this node. */
struct ms_limits {
	bool required;	      /* a node that cannot set these limits refuses LWK jobs */
	hwloc_bitmap_t cpus;  /* the job's assistant CPUs, or the OS cores */
	hwloc_bitmap_t nodes; /* the NUMA nodes of their memory, near these CPUs */
	uint64_t memory;      /* bytes */
	uint64_t memory_max;  /* the most bytes that a user may ask for */
	unsigned pids;	      /* processes and threads */
	/*
	 * Percent of one CPU, for the proxies of all jobs that share the OS cores; 0: no limit,
	 * because the job has assistant CPUs.
	 */
	unsigned cpu_percent;
	/*
	 * Weight of the proxies on the OS cores, in percent of an ordinary cgroup's; 0: the same.
	 */
	unsigned weight_percent;
};

struct ms_job;

/*
 * Limits the tasks of a step before they begin, with cgroup version 2, in the cgroups that Slurm
 * made for them; 'pid' is one of the tasks. A batch script ('is_step' is false) gets only the
 * limits of the whole job, those of CPU time and processes. With cgroup version 1 lwkpart.ko moves
 * proxies into cgroups; this function moves the tasks of a step with another driver. Root.
 */
int ms_limits_step(const struct ms_job *job, pid_t pid, bool is_step, struct ms_error *err);

/*
 * Returns how many of the job's proxies Linux has killed because they exceeded their limit of
 * memory; 'pid' is a task of the step. 0 also when it cannot be read.
 */
uint64_t ms_limits_kills(const struct ms_job *job, pid_t pid);

/* Divides the CPU time on the OS cores among the jobs that share them, after one ended. Root. */
void ms_limits_share(void);

#endif
