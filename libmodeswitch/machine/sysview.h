/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /sys and /proc/cpuinfo say of an LWK's CPUs and NUMA nodes, for the programs on it. Linux
 * forgets CPUs that go off-line, so what it says of all of them is kept in a tree of small files,
 * sysfs, while nothing is lent. Each job with an LWK has a tree jobs/ID.sys with
 *   cpu, node  in the place of /sys/devices/system/cpu and node
 *   cpuinfo    in the place of /proc/cpuinfo
 * that has the LWK's CPUs and nodes, by Linux's numbers, and no others; what a CPU's topology and
 * caches are, it has by links to the first one. lwkexec shows it to programs; where there is none,
 * they see Linux's.
 */
#ifndef SYSVIEW_H
#define SYSVIEW_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"

/*
 * Keeps it of the whole machine, with nothing lent; again if 'anew', because it has become another
 * one. With the lock of switching held. 0 or -1.
 */
int sysview_keep_machine(bool anew, struct ms_error *err);

/* A NUMA node as the LWK has it. */
struct sysview_node {
	hwloc_bitmap_t cpus; /* NULL: it is none of the LWK's */
	uint64_t bytes;
};

/* The job's; 'nodes' by number. 0 or -1, and then some of it may be there. */
int sysview_make(uint32_t job_id, hwloc_const_bitmap_t cpus, const struct sysview_node *nodes,
		 unsigned n, struct ms_error *err);
/* Also when it is not there (any more), or not whole. */
int sysview_remove(uint32_t job_id, struct ms_error *err);
/* Those of all jobs. */
int sysview_remove_all(struct ms_error *err);

#endif
