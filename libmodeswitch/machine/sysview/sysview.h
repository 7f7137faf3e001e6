/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The view that programs on an LWK have of /sys and /proc/cpuinfo: only the LWK's CPUs and NUMA
 * nodes, with Linux's numbers. Linux forgets CPUs that go off-line, so machine.c keeps a
 * tree of small files about all CPUs, sysfs, while nothing is lent. job.c makes a tree
 * jobs/ID.sys for each job with an LWK:
 *   cpu, node  replace /sys/devices/system/cpu and node; links to sysfs give topology and caches
 *   cpuinfo    replaces /proc/cpuinfo
 * lwkexec shows it to programs; without such a tree they see Linux's files. Calls return 0 or -1.
 */
#ifndef SYSVIEW_H
#define SYSVIEW_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"

/*
 * Makes the tree of the whole machine while nothing is lent. 'replace': also when there is a tree,
 * because the machine has changed. Hold the lock of switching.
 */
int sysview_keep_machine(bool replace, struct ms_error *err);

/* A NUMA node as the LWK has it. */
struct sysview_node {
	hwloc_bitmap_t cpus; /* NULL: the LWK has nothing of this node */
	uint64_t bytes;
};

/* Makes a job's tree; nodes[i] is node i. After a failure a part of the tree may be there. */
int sysview_make(uint32_t job_id, hwloc_const_bitmap_t cpus, const struct sysview_node *nodes,
		 unsigned n, struct ms_error *err);
/* Removes a job's tree, whole or not; succeeds also when there is none. */
int sysview_remove(uint32_t job_id, struct ms_error *err);
/* Removes the trees of all jobs. */
int sysview_remove_all(struct ms_error *err);

#endif
