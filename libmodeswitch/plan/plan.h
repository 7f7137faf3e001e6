/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides what a switch will do. Pure: the same answer for the same arguments.
 */
#ifndef PLAN_H
#define PLAN_H

#include <hwloc.h>
#include <stddef.h>
#include <stdint.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"

/* The CPUs and memory that a machine can still lend. */
struct supply {
	hwloc_bitmap_t lent_cpus;
	hwloc_bitmap_t online_cpus;
	uint64_t bytes;			   /* the most that the whole machine can lend */
	struct ms_plan_memory nodes[1024]; /* the most that each node can lend */
	size_t n_nodes;
};

/* Decides a plan, which the caller frees with ms_plan_free(). 0, or -1 with the reason. */
int plan_decide(const struct ms_config *config, const struct ms_request *request,
		hwloc_topology_t topology, const struct supply *supply, struct ms_plan **out,
		struct ms_error *err);

#endif
