/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine looks like.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

/* Reads an hwloc XML file. Free with hwloc_topology_destroy(). */
int topology_load_xml(const char *path, hwloc_topology_t *out, struct ms_error *err);

/*
 * Linux's number of the CPU's NUMA node, the lowest of several that hold ordinary memory; -1 when
 * there is no such CPU, or it is local to no node.
 */
int topology_node_of_cpu(hwloc_topology_t topology, unsigned cpu);

/* How far node b is from node a; 10 is "the same" by the ACPI's custom. */
uint64_t topology_distance(hwloc_topology_t topology, unsigned a, unsigned b);

/*
 * The NUMA nodes kept for the system. SystemNodes= names them; a node that this machine does not
 * have is an error. By default they are the nodes of the OS CPUs (topology_node_of_cpu()); only
 * that of the lowest OS CPU when those would be all, so that some are left for jobs; none on a
 * machine with a single node of ordinary memory.
 */
int topology_system_nodes(hwloc_topology_t topology, const struct ms_config *config,
			  hwloc_bitmap_t nodes, struct ms_error *err);

/* High-bandwidth memory beside ordinary memory, such as a KNL's MCDRAM. */
bool topology_node_is_special(hwloc_topology_t topology, hwloc_obj_t node);

/*
 * This machine with nothing lent: what is lent cannot be seen any more, so while something is
 * ('lent') it comes from what was kept. While nothing is, what was kept will do as well as long as
 * Linux has the CPUs, nodes and memory blocks of then; else it is read live, which takes longer,
 * and kept if 'keep' says so, with what programs on an LWK want to know (sysview.h). Call that with
 * the lock of switching held.
 */
int topology_load_node(bool lent, bool keep, hwloc_topology_t *out, struct ms_error *err);

#endif
