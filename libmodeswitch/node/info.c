// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells what this node has lent and could lend.
 */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "driver/driver.h"
#include "machine/memory.h"
#include "machine/obstacles.h"
#include "machine/spare.h"
#include "machine/topology.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"

#define GIANT_PAGE (1UL << 30)

/* A look at the memory of a NUMA node, piece by piece. */
struct survey {
	struct ms_numa_info *numa;
	const struct ms_lent *lent;
	size_t n_lent;
	uint64_t run_start, run_end; /* the last run of whole large pages so far */
};

static bool is_lent(const struct survey *survey, uint64_t start)
{
	for (size_t i = 0; i < survey->n_lent; i++) {
		const struct ms_lent *lent = &survey->lent[i];

		if (!lent->is_cpu && start >= lent->start && start - lent->start < lent->bytes)
			return true;
	}
	return false;
}

static void survey_piece(uint64_t start, uint64_t bytes, void *context)
{
	struct survey *survey = context;
	struct ms_numa_info *numa = survey->numa;
	uint64_t giant;

	/* Memory that was taken as a run is still on-line to Linux. */
	if (is_lent(survey, start))
		return;
	numa->free_4k += bytes;
	if (bytes < MEMORY_PIECE)
		return;
	numa->free_2m += MEMORY_PIECE;
	if (start != survey->run_end)
		survey->run_start = start;
	survey->run_end = start + MEMORY_PIECE;
	if (survey->run_end - survey->run_start > numa->largest_free)
		numa->largest_free = survey->run_end - survey->run_start;
	giant = survey->run_end / GIANT_PAGE * GIANT_PAGE;
	if (giant == survey->run_end && giant - survey->run_start >= GIANT_PAGE)
		numa->free_1g += GIANT_PAGE;
}

/* Leaves out blocks that can never be taken, though a smaller run in them may be found. */
static void survey_memory(struct ms_numa_info *numa, const struct ms_lent *lent, size_t n_lent)
{
	struct survey survey = { .numa = numa, .lent = lent, .n_lent = n_lent };
	struct memory_block *blocks;
	size_t n = memory_blocks(numa->node, &blocks);

	for (size_t i = 0; i < n; i++) {
		if (blocks[i].online && !blocks[i].unfit)
			memory_block_pieces(&blocks[i], survey_piece, &survey);
	}
	free(blocks);
}

static struct ms_numa_info *find_numa(struct ms_node_info *info, unsigned node)
{
	for (size_t i = 0; i < info->n_numa; i++) {
		if (info->numa[i].node == node)
			return &info->numa[i];
	}
	return NULL;
}

/* Adds up what the ledger has, which is sorted by address. */
static void add_lent(struct ms_node_info *info, const struct ms_lent *lent, size_t n)
{
	hwloc_bitmap_t instances = hwloc_bitmap_alloc();
	uint64_t run = 0;

	for (size_t i = 0; i < n; i++) {
		struct ms_numa_info *numa = find_numa(info, lent[i].node);
		bool joins = i && !lent[i - 1].is_cpu && lent[i - 1].node == lent[i].node &&
			     lent[i - 1].start + lent[i - 1].bytes == lent[i].start;

		if (lent[i].instance != MS_NO_INSTANCE)
			hwloc_bitmap_set(instances, lent[i].instance);
		if (lent[i].is_cpu) {
			hwloc_bitmap_set(info->lent_cpus, lent[i].cpu);
			continue;
		}
		run = joins ? run + lent[i].bytes : lent[i].bytes;
		info->lent += lent[i].bytes;
		if (!numa)
			continue;
		numa->lent += lent[i].bytes;
		if (run > numa->largest_lent)
			numa->largest_lent = run;
	}
	info->instances = hwloc_bitmap_weight(instances);
	hwloc_bitmap_free(instances);
}

static int list_numa(hwloc_topology_t topology, hwloc_const_bitmap_t system_nodes,
		     struct ms_node_info *info, struct ms_error *err)
{
	int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
	hwloc_obj_t node = NULL;

	info->numa = calloc(n > 0 ? n : 1, sizeof(*info->numa));
	if (!info->numa)
		return ms_fail(err, "out of memory");
	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
		info->numa[info->n_numa++] = (struct ms_numa_info){
			.node = node->os_index,
			.system = hwloc_bitmap_isset(system_nodes, node->os_index),
			.lent_cpus = hwloc_bitmap_alloc(),
			.free_cpus = hwloc_bitmap_alloc(),
			.total = node->attr->numanode.local_memory,
		};
	return 0;
}

/* Gives each CPU to the one NUMA node that a plan takes for the CPU's own. */
static void divide_cpus(hwloc_topology_t topology, struct ms_node_info *info)
{
	int cpu;

	hwloc_bitmap_foreach_begin(cpu, hwloc_topology_get_topology_cpuset(topology)) {
		int node = topology_node_of_cpu(topology, cpu);
		struct ms_numa_info *numa = node < 0 ? NULL : find_numa(info, node);

		if (numa && hwloc_bitmap_isset(info->lent_cpus, cpu))
			hwloc_bitmap_set(numa->lent_cpus, cpu);
		if (numa && hwloc_bitmap_isset(info->free_cpus, cpu))
			hwloc_bitmap_set(numa->free_cpus, cpu);
	}
	hwloc_bitmap_foreach_end();
}

static int look(hwloc_topology_t topology, const struct ms_config *config,
		const struct ms_lent *lent, size_t n_lent, struct ms_node_info *info,
		struct ms_error *err)
{
	hwloc_bitmap_t system_nodes = hwloc_bitmap_alloc();
	int ret = topology_system_nodes(topology, config, system_nodes, err);

	if (ret == 0)
		ret = list_numa(topology, system_nodes, info, err);
	hwloc_bitmap_free(system_nodes);
	if (ret < 0)
		return -1;
	if (kernel_read_list(info->free_cpus, "/sys/devices/system/cpu/online") < 0)
		return ms_fail(err, "/sys/devices/system/cpu/online cannot be read");
	hwloc_bitmap_andnot(info->free_cpus, info->free_cpus, config->os_cpus);
	add_lent(info, lent, n_lent);
	divide_cpus(topology, info);
	info->spare = memory_linux_can_spare();
	for (size_t i = 0; i < info->n_numa; i++)
		survey_memory(&info->numa[i], lent, n_lent);
	return 0;
}

int ms_node_info(const struct ms_config *config, struct ms_node_info *info, struct ms_error *err)
{
	hwloc_topology_t topology;
	struct ms_lent *lent;
	size_t n_lent;
	int ret;

	memset(info, 0, sizeof(*info));
	if (ms_topology_load(NULL, &topology, err) < 0)
		return -1;
	info->lent_cpus = hwloc_bitmap_alloc();
	info->free_cpus = hwloc_bitmap_alloc();
	ret = ms_ledger(&lent, &n_lent, err);
	if (ret == 0) {
		ret = look(topology, config, lent, n_lent, info, err);
		free(lent);
	}
	hwloc_topology_destroy(topology);
	if (ret < 0)
		ms_node_info_release(info);
	return ret;
}

void ms_node_info_release(struct ms_node_info *info)
{
	for (size_t i = 0; i < info->n_numa; i++) {
		hwloc_bitmap_free(info->numa[i].lent_cpus);
		hwloc_bitmap_free(info->numa[i].free_cpus);
	}
	free(info->numa);
	hwloc_bitmap_free(info->lent_cpus);
	hwloc_bitmap_free(info->free_cpus);
	memset(info, 0, sizeof(*info));
}
