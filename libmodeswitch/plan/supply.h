/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SUPPLY_H
#define SUPPLY_H

#include <hwloc.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "plan/plan.h"

/*
 * What this node can still give; 'dev' is -1 when the driver's module is not loaded. What the
 * instance 'warm' has counts as if it were back; MS_NO_INSTANCE: there is none. Free with
 * supply_free().
 */
int supply_of_node(hwloc_topology_t topology, const struct driver *driver, int dev, int warm,
		   struct supply **out, struct ms_error *err);
/* What the machine that is described can give when it is idle. */
int supply_of_topology(hwloc_topology_t topology, struct supply **out, struct ms_error *err);
void supply_free(struct supply *supply);

#endif
