/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planning: a job's request, and the plan of its switch.
 */
#ifndef MODESWITCH_PLAN_H
#define MODESWITCH_PLAN_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <modeswitch/config.h>
#include <modeswitch/error.h>
#include <modeswitch/limits.h>

/* The allocation of a job on this node, and how the job wants it used. */
struct ms_request {
	uint32_t job_id;
	uid_t uid;
	char image[MS_IMAGE_NAME_MAX + 1]; /* "": the default image */
	hwloc_bitmap_t cpus;		   /* the allocated CPUs */
	uint64_t memory;		   /* the allocated memory, bytes */
	bool whole_memory;		   /* --mem=0: the job takes as much as the node can give */
	struct ms_amount lwk_memory;	   /* the LWK's part of 'memory' */
	struct ms_numa numa;
	uint64_t proxy_memory; /* limit of its proxies, bytes; 0: as lwk.conf says */
	bool one_per_core;     /* one LWK CPU for each core, its other hardware threads idle */
	int64_t announced;     /* by ms_switch_announce(); 0: the job cannot end meanwhile */
};

/* A CPU for the LWK, which numbers its CPUs by their places in ms_plan.cpus. */
struct ms_plan_cpu {
	unsigned cpu;
	unsigned node;
	unsigned doorbell_cpu; /* the Linux CPU that gets its doorbells */
};

/* Memory to take from one NUMA node. */
struct ms_plan_memory {
	unsigned node;
	uint64_t bytes;
	bool system; /* a system node */
	bool remote; /* no CPU of the LWK is local to it */
};

/*
 * A plan: the CPUs, memory and limits that a switch will set, decided before anything is touched.
 */
struct ms_plan {
	struct ms_image image;
	hwloc_bitmap_t lwk_cpus;   /* CPUs that leave Linux: all of 'cpus' and 'idle_cpus' */
	hwloc_bitmap_t idle_cpus;  /* hardware threads that stay idle */
	hwloc_bitmap_t linux_cpus; /* the rest of the allocation */
	struct ms_plan_cpu *cpus;
	size_t n_cpus;
	/*
	 * First the nodes that give memory, the nearest first; then nodes with 0 bytes, which the
	 * switch asks in this order when the first ones cannot give enough. With MS_NUMA_BIND only
	 * nodes of that policy.
	 */
	struct ms_plan_memory *memory;
	size_t n_memory;
	uint64_t bytes; /* sum of 'memory' */
	uint64_t least; /* bytes; with less the switch refuses the job */
	struct ms_limits proxies;
};

/*
 * Plans a switch and touches nothing but the environment, from which it removes HWLOC_*. Plans for
 * the idle machine that 'topology', the path of an hwloc XML file, describes; with NULL for this
 * node as it is now. The caller frees *out with ms_plan_free().
 */
int ms_plan_make(const struct ms_config *config, const struct ms_request *request,
		 const char *topology, struct ms_plan **out, struct ms_error *err);
void ms_plan_free(struct ms_plan *plan);

/*
 * Loads the topology of such a plan: of the machine that the file describes, or with NULL of this
 * node as it is when nothing is lent. The caller frees *out with hwloc_topology_destroy(). Removes
 * HWLOC_* from the environment.
 */
int ms_topology_load(const char *path, hwloc_topology_t *out, struct ms_error *err);

#endif
