/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers the topology and what can be lent, and has the plan made from them.
 */
#ifndef PLAN_MAKE_H
#define PLAN_MAKE_H

#include <stdbool.h>

#include "driver/driver.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"

/*
 * Plans a switch of this node as it is now. 'dev' is the driver's, or -1 when its module is not
 * loaded; the plan may take what the instance 'warm' holds (MS_NO_INSTANCE: no instance does).
 * 'keep' is topology_load_node()'s. Free the plan with ms_plan_free(). 0, or -1 with the reason.
 */
int plan_for_node(const struct ms_config *config, const struct ms_request *request,
		  const struct driver *driver, int dev, int warm, bool keep, struct ms_plan **out,
		  struct ms_error *err);

#endif
