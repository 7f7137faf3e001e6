/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs and NUMA nodes as a topology has them, and the topology of this machine with nothing lent.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

/*
 * Returns Linux's number of the CPU's NUMA node, the lowest one with ordinary memory if there are
 * several; -1 when there is no such CPU, or it is local to no node.
 */
int topology_node_of_cpu(hwloc_topology_t topology, unsigned cpu);

/* Returns the distance from node a to node b as in ACPI's tables: 10 for the same node. */
uint64_t topology_distance(hwloc_topology_t topology, unsigned a, unsigned b);

/*
 * Sets 'nodes' to the system nodes. SystemNodes= names them; a node that this machine does not have
 * is an error. By default they are the nodes of the OS CPUs (topology_node_of_cpu()). If these were
 * all nodes, only that of the lowest OS CPU is a system node, so that some are left for jobs. A
 * machine with a single node of ordinary memory has none by default.
 */
int topology_system_nodes(hwloc_topology_t topology, const struct ms_config *config,
			  hwloc_bitmap_t nodes, struct ms_error *err);

/* Returns true for high-bandwidth memory beside ordinary memory, such as a KNL's MCDRAM. */
bool topology_node_is_special(hwloc_topology_t topology, hwloc_obj_t node);

/*
 * Loads the topology of this machine as it is with nothing lent. With 'lent', when something is
 * lent that Linux does not show any more, the kept topology is used. Otherwise the kept one is used
 * if Linux still has the same CPUs, nodes and memory blocks. If not, the topology is read live,
 * which takes longer. With 'keep' a topology that was read live is kept, and sysview's tree of the
 * machine is made if need be; hold the lock of switching then. The caller frees *out with
 * hwloc_topology_destroy().
 */
int topology_load_node(bool lent, bool keep, hwloc_topology_t *out, struct ms_error *err);

#endif
