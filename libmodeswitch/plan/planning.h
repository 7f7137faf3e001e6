/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a plan while it is decided, which cpus.c, memory.c and proxies.c complete. */
#ifndef PLANNING_H
#define PLANNING_H

#include <hwloc.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"
#include "plan/plan.h"

/* Bytes: the smallest piece of memory of an LWK. */
#define LARGE_PAGE (2UL << 20)

struct planning {
	const struct ms_config *config;
	const struct ms_request *request;
	hwloc_topology_t topology;
	const struct supply *supply;
	hwloc_bitmap_t system_nodes;
	uint64_t grain; /* bytes: the LWK gets memory in multiples of it */
	struct ms_plan *plan;
	struct ms_error *err;
};

/* All calls return 0, or -1 with p->err. */

/* Decides which CPUs the LWK gets, and which Linux CPU gets the doorbells of each. */
int plan_cpus(struct planning *p);
/* Decides how much memory the LWK gets from which nodes; after plan_cpus(). */
int plan_memory(struct planning *p);
/* Decides the limits of the proxies; after plan_memory(). */
int plan_proxies(struct planning *p);

#endif
