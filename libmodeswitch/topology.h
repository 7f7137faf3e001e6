/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine looks like.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "modeswitch.h"

/* Reads an hwloc XML file. Free with hwloc_topology_destroy(). */
int topology_load_xml(const char *path, hwloc_topology_t *out, struct ms_error *err);

/* Linux's number of the CPU's NUMA node; -1 when there is no such CPU. */
int topology_node_of_cpu(hwloc_topology_t topology, unsigned cpu);

/* How far node b is from node a; 10 is "the same" by the ACPI's custom. */
uint64_t topology_distance(hwloc_topology_t topology, unsigned a, unsigned b);

/*
 * This machine with nothing lent: what is lent cannot be seen any more. While nothing
 * is ('lent' is false) it is read live, afterwards it comes from what was kept.
 */
int topology_load_node(bool lent, hwloc_topology_t *out, struct ms_error *err);

/* Keeps what was read live. Call with the lock of switching held. */
int topology_keep(hwloc_topology_t topology, struct ms_error *err);

#endif
