/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what a machine can lend. Calls return 0, or -1 with *err. */
#ifndef SUPPLY_H
#define SUPPLY_H

#include <hwloc.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "plan/plan.h"

/*
 * Finds what this node can still lend. 'dev' is -1 when the driver's module is not loaded. CPUs and
 * memory of the instance 'warm' (MS_NO_INSTANCE: none) count as returned. supply_free() frees *out.
 */
int supply_of_node(hwloc_topology_t topology, const struct driver *driver, int dev, int warm,
		   struct supply **out, struct ms_error *err);
/* Finds what the machine of this topology can lend when it is idle. supply_free() frees *out. */
int supply_of_topology(hwloc_topology_t topology, struct supply **out, struct ms_error *err);
void supply_free(struct supply *supply);

#endif
