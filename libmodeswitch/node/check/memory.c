// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks at the NUMA nodes: whether lwk.conf names those that exist, and whether their memory can
 * be lent in large contiguous pieces; and at the numbers of the CPUs.
 */
#include <hwloc.h>
#include <stdlib.h>

#include "base/files.h"
#include "machine/memory.h"
#include "machine/topology.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"
#include "node/check/check.h"

/*
 * The NUMA nodes kept for the system; none, too, when that cannot be told. The caller frees them.
 */
static hwloc_bitmap_t find_system_nodes(struct checking *checking)
{
	hwloc_bitmap_t system = hwloc_bitmap_alloc();
	hwloc_topology_t topology;
	struct ms_error err;

	if (!checking->config || topology_load_node(true, false, &topology, &err) < 0)
		return system;
	if (topology_system_nodes(topology, checking->config, system, &err) < 0) {
		check_tell(checking, MS_PROBLEM, "memory", "correct SystemNodes= in lwk.conf", "%s",
			   err.text);
		hwloc_bitmap_zero(system);
	}
	hwloc_topology_destroy(topology);
	return system;
}

static void check_node_memory(struct checking *checking, unsigned node, bool is_system, bool alone)
{
	uint64_t bytes = memory_block_bytes();
	size_t movable = 0, offline = 0, n;
	struct memory_block *blocks;

	n = memory_blocks(node, &blocks);
	for (size_t i = 0; i < n; i++) {
		movable += blocks[i].movable;
		offline += !blocks[i].online;
	}
	free(blocks);
	if (is_system) {
		check_tell(checking, MS_FINE, "memory", NULL, "NUMA node %u is kept for the system",
			   node);
		return;
	}
	/* Off-line blocks count as prepared: they may be lent. */
	check_tell(
		checking, movable || offline ? MS_FINE : MS_NOTE, "memory",
		movable || offline ? NULL
		: alone ? "divide this machine: boot with numa=fake=N, then run 'lwkctl prepare' early "
			  "at boot; or boot with movablecore="
			: "run 'lwkctl prepare' early at boot: systemctl enable "
			  "slurm-lwk-prepare.service",
		"NUMA node %u: %zu of %zu memory blocks (of %ju MB) are movable, %zu are off-line%s",
		node, movable, n, (uintmax_t)(bytes >> 20), offline,
		movable || offline
			? ""
			: "; it is not prepared: large contiguous memory gets scarce as it is used");
}

void check_memory(struct checking *checking)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc(), system;
	uint64_t bytes = memory_block_bytes();
	unsigned node;

	if (!bytes || kernel_read_list(nodes, "/sys/devices/system/node/online") < 0) {
		check_tell(checking, MS_NOTE, "memory",
			   "use a kernel with CONFIG_MEMORY_HOTREMOVE for larger contiguous memory",
			   "this kernel has no memory blocks that can go off-line");
		hwloc_bitmap_free(nodes);
		return;
	}
	system = find_system_nodes(checking);
	hwloc_bitmap_foreach_begin(node, nodes) {
		check_node_memory(checking, node, hwloc_bitmap_isset(system, node),
				  hwloc_bitmap_iszero(system));
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(system);
	hwloc_bitmap_free(nodes);
}

/*
 * slurmd's map of its CPUs to Linux's leaves out the numbers that are not below the number of CPUs.
 */
void check_cpu_numbers(struct checking *checking)
{
	hwloc_const_bitmap_t cpus;
	hwloc_topology_t topology;
	struct ms_error ignored;
	char list[256];

	if (topology_load_node(true, false, &topology, &ignored) < 0)
		return; /* check_numa() tells */
	cpus = hwloc_topology_get_topology_cpuset(topology);
	hwloc_bitmap_list_snprintf(list, sizeof(list), cpus);
	if (hwloc_bitmap_last(cpus) >= hwloc_bitmap_weight(cpus))
		check_tell(
			checking, MS_PROBLEM, "cpu",
			"boot without nosmt and have jobs say --hint=nomultithread, or turn SMT off in the "
			"firmware; CPUs that 'chcpu -d' put off-line: 'chcpu -e', and restart slurmd",
			"the CPUs on-line are %s: Slurm takes others where their numbers have "
			"holes, and LWK jobs are refused",
			list);
	hwloc_topology_destroy(topology);
}

/* The NUMA nodes that lwk.conf names must exist on this machine. */
void check_numa(struct checking *checking)
{
	static const char to_do[] =
		"correct SystemNodes= and Numa= in lwk.conf; 'numactl -H' tells "
		"which NUMA nodes there are";
	const struct ms_config *config = checking->config;
	hwloc_topology_t topology;
	struct ms_error err;
	hwloc_bitmap_t nodes;
	char list[256];

	if (!config)
		return;
	if (ms_topology_load(NULL, &topology, &err) < 0) {
		check_tell(checking, MS_PROBLEM, "numa",
			   "see whether 'lstopo', which uses hwloc too, works here", "%s",
			   err.text);
		return;
	}
	nodes = hwloc_bitmap_alloc();
	if (topology_system_nodes(topology, config, nodes, &err) < 0) {
		check_tell(checking, MS_PROBLEM, "numa", to_do, "%s", err.text);
	} else if (config->numa.nodes &&
		   !hwloc_bitmap_isincluded(config->numa.nodes,
					    hwloc_topology_get_topology_nodeset(topology))) {
		hwloc_bitmap_list_snprintf(list, sizeof(list), config->numa.nodes);
		check_tell(checking, MS_PROBLEM, "numa", to_do,
			   "Numa=bind=%s names NUMA nodes that this machine does not have", list);
	} else {
		hwloc_bitmap_list_snprintf(list, sizeof(list), nodes);
		check_tell(checking, MS_FINE, "numa", NULL, "NUMA nodes kept for the system: %s",
			   *list ? list : "none");
	}
	hwloc_bitmap_free(nodes);
	hwloc_topology_destroy(topology);
}
