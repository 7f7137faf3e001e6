/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan in the making: what plan.c, plan_cpus.c and plan_memory.c share. */
#ifndef PLANNING_H
#define PLANNING_H

#include <hwloc.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"
#include "plan/plan.h"

struct planning {
	const struct ms_config *config;
	const struct ms_request *request;
	hwloc_topology_t topology;
	const struct supply *supply;
	hwloc_bitmap_t system_nodes;
	struct ms_plan *plan;
	struct ms_error *err;
};

/* Which CPUs the LWK gets, and which CPU of Linux serves the doorbells of each. */
int plan_cpus(struct planning *p);
/* How much memory the LWK gets, and from which nodes; after plan_cpus(). */
int plan_memory(struct planning *p);
/* What the proxies may use of Linux; after plan_memory(). */
int plan_proxies(struct planning *p);

#endif
