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

/* What Slurm gave a job on this node, and what it asked of us. */
struct ms_request {
	uint32_t job_id;
	uid_t uid;
	char image[MS_IMAGE_NAME_MAX + 1]; /* "" for the default */
	hwloc_bitmap_t cpus;		   /* the allocation, Linux's numbers */
	uint64_t memory;		   /* the allocation, bytes */
	bool whole_memory;	     /* --mem=0: no number was asked for, what can be had will do */
	struct ms_amount lwk_memory; /* of that for the LWK */
	struct ms_numa numa;
	uint64_t proxy_memory; /* for its proxies, bytes; 0: as lwk.conf says */
	bool one_per_core;     /* one LWK CPU for each core, its other hardware threads idle */
};

/* A CPU for the LWK; its number there is its place in ms_plan.cpus. */
struct ms_plan_cpu {
	unsigned cpu;
	unsigned node;
	unsigned doorbell_cpu; /* the CPU of Linux that gets its doorbells */
};

/* Memory to take from one NUMA node. */
struct ms_plan_memory {
	unsigned node;
	uint64_t bytes;
	bool system; /* the node is one of those kept for the system */
	bool remote; /* no CPU of the LWK is local to it */
};

/* What a switch will do. */
struct ms_plan {
	struct ms_image image;
	hwloc_bitmap_t lwk_cpus;   /* leave Linux: those of 'cpus', and 'idle_cpus' */
	hwloc_bitmap_t idle_cpus;  /* hardware threads that nobody shall use */
	hwloc_bitmap_t linux_cpus; /* the rest of the allocation */
	struct ms_plan_cpu *cpus;
	size_t n_cpus;
	/*
	 * The nodes that shall give some, the nearest first; then those in reserve, with 0 bytes, in
	 * the order in which they would be asked. With MS_NUMA_BIND no others than those.
	 */
	struct ms_plan_memory *memory;
	size_t n_memory;
	uint64_t bytes; /* of 'memory', in all */
	uint64_t least; /* with less the job is refused */
	struct ms_limits proxies;
};

/*
 * Plans a switch and touches nothing. With 'topology', the path of an hwloc XML
 * file, it plans for the idle machine described there; with NULL for this node, as
 * it is now. Free with ms_plan_free(). Removes HWLOC_* from the environment.
 */
int ms_plan_make(const struct ms_config *config, const struct ms_request *request,
		 const char *topology, struct ms_plan **out, struct ms_error *err);
void ms_plan_free(struct ms_plan *plan);

/*
 * The machine of such a plan: what the file describes, or this node as it is when nothing is
 * lent. Free with hwloc_topology_destroy(). Removes HWLOC_* from the environment.
 */
int ms_topology_load(const char *path, hwloc_topology_t *out, struct ms_error *err);

#endif
