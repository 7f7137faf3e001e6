// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the part of /sys that tells the LWK's programs about its CPUs and memory.
 */
#include <stdlib.h>

#include "machine/sysview/sysview.h"
#include "modeswitch/plan.h"
#include "switch/steps/table.h"

static int undo(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	return sysview_remove(switching->job_id, err);
}

static unsigned count_nodes(const struct switching *switching)
{
	const struct ms_plan *plan = switching->plan;
	unsigned n = 0;

	for (size_t i = 0; i < plan->n_cpus; i++)
		n = plan->cpus[i].node >= n ? plan->cpus[i].node + 1 : n;
	for (size_t i = 0; i < switching->n_memory; i++)
		n = switching->memory[i].node >= n ? switching->memory[i].node + 1 : n;
	return n;
}

static struct sysview_node *use_node(struct sysview_node *nodes, unsigned number)
{
	if (!nodes[number].cpus)
		nodes[number].cpus = hwloc_bitmap_alloc();
	return nodes[number].cpus ? &nodes[number] : NULL;
}

/* Gives each NUMA node its CPUs and bytes. False when out of memory. */
static bool fill_nodes(const struct switching *switching, struct sysview_node *nodes)
{
	const struct ms_plan *plan = switching->plan;
	struct sysview_node *node;

	for (size_t i = 0; i < plan->n_cpus; i++) {
		node = use_node(nodes, plan->cpus[i].node);
		if (!node || hwloc_bitmap_set(node->cpus, plan->cpus[i].cpu) < 0)
			return false;
	}
	for (size_t i = 0; i < switching->n_memory; i++) {
		node = use_node(nodes, switching->memory[i].node);
		if (!node)
			return false;
		node->bytes += switching->memory[i].bytes;
	}
	return true;
}

static int make(struct switching *switching, struct ms_error *err)
{
	const struct ms_plan *plan = switching->plan;
	unsigned n = count_nodes(switching);
	struct sysview_node *nodes = calloc(n + 1, sizeof(*nodes));
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	int ret = -1;

	for (size_t i = 0; cpus && i < plan->n_cpus; i++)
		hwloc_bitmap_set(cpus, plan->cpus[i].cpu);
	if (!nodes || !cpus || !fill_nodes(switching, nodes))
		ms_fail(err, "out of memory");
	else
		ret = sysview_make(switching->job_id, cpus, nodes, n, err);
	for (unsigned node = 0; nodes && node < n; node++)
		hwloc_bitmap_free(nodes[node].cpus);
	free(nodes);
	hwloc_bitmap_free(cpus);
	return ret;
}

const struct step step_sysview = { .name = "sysview", .run = make, .undo = undo };
