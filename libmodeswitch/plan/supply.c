// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/supply.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "machine/spare.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"

static struct supply *new_supply(void)
{
	struct supply *supply = calloc(1, sizeof(*supply));

	if (!supply)
		return NULL;
	supply->lent_cpus = hwloc_bitmap_alloc();
	supply->online_cpus = hwloc_bitmap_alloc();
	return supply;
}

void supply_free(struct supply *supply)
{
	if (!supply)
		return;
	hwloc_bitmap_free(supply->lent_cpus);
	hwloc_bitmap_free(supply->online_cpus);
	free(supply);
}

/* Returns the bytes of a node that Linux could move elsewhere or drop. */
static uint64_t node_can_spare(unsigned node)
{
	char text[8192];
	uint64_t total, fixed;

	if (kernel_read(text, sizeof(text), "/sys/devices/system/node/node%u/meminfo", node) < 0)
		return 0; /* all of it is lent */
	total = meminfo_bytes(text, "MemTotal");
	fixed = meminfo_bytes(text, "SUnreclaim") + meminfo_bytes(text, "KernelStack") +
		meminfo_bytes(text, "PageTables") + meminfo_bytes(text, "Mlocked");
	return total > fixed ? total - fixed : 0;
}

static void add_nodes(struct supply *supply, hwloc_topology_t topology, bool live)
{
	hwloc_obj_t node = NULL;

	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) &&
	       supply->n_nodes < sizeof(supply->nodes) / sizeof(*supply->nodes)) {
		supply->nodes[supply->n_nodes++] = (struct ms_plan_memory){
			.node = node->os_index,
			.bytes = live ? node_can_spare(node->os_index)
				      : node->attr->numanode.local_memory,
		};
	}
}

static void add_memory(struct supply *supply, const struct ms_lent *lent)
{
	supply->bytes += lent->bytes;
	for (size_t i = 0; i < supply->n_nodes; i++) {
		if (supply->nodes[i].node == lent->node)
			supply->nodes[i].bytes += lent->bytes;
	}
}

int supply_of_node(hwloc_topology_t topology, const struct driver *driver, int dev, int warm,
		   struct supply **out, struct ms_error *err)
{
	struct supply *supply = new_supply();
	struct ms_lent *lent = NULL;
	size_t n = 0;
	int error;

	if (!supply)
		return ms_fail(err, "out of memory");
	if (kernel_read_list(supply->online_cpus, "/sys/devices/system/cpu/online") < 0) {
		supply_free(supply);
		return ms_fail(err, "/sys/devices/system/cpu/online cannot be read");
	}
	error = dev < 0 ? 0 : driver->ledger(dev, &lent, &n);
	if (error) {
		supply_free(supply);
		return ms_fail(err, "the ledger cannot be read: %s", strerror(-error));
	}
	add_nodes(supply, topology, true);
	supply->bytes = memory_linux_can_spare();
	for (size_t i = 0; i < n; i++) {
		bool is_warm = warm != MS_NO_INSTANCE && lent[i].instance == warm;

		/* A lent CPU is also off-line; that it is lent is the better reason to tell. */
		if (lent[i].is_cpu)
			hwloc_bitmap_set(supply->online_cpus, lent[i].cpu);
		if (lent[i].is_cpu && !is_warm)
			hwloc_bitmap_set(supply->lent_cpus, lent[i].cpu);
		if (!lent[i].is_cpu && is_warm)
			add_memory(supply, &lent[i]);
	}
	free(lent);
	*out = supply;
	return 0;
}

int supply_of_topology(hwloc_topology_t topology, struct supply **out, struct ms_error *err)
{
	struct supply *supply = new_supply();

	if (!supply)
		return ms_fail(err, "out of memory");
	hwloc_bitmap_copy(supply->online_cpus, hwloc_topology_get_topology_cpuset(topology));
	add_nodes(supply, topology, false);
	for (size_t i = 0; i < supply->n_nodes; i++) {
		/* The sizes in an XML file can be anything, so their sum may overflow. */
		if (__builtin_add_overflow(supply->bytes, supply->nodes[i].bytes, &supply->bytes))
			supply->bytes = UINT64_MAX;
	}
	*out = supply;
	return 0;
}
