/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the LWK's CPUs. */
#ifndef LWKPART_COUNTERS_H
#define LWKPART_COUNTERS_H

#include "abi/device/counters.h"
#include "instance/instance.h"

/* LWK_COUNTERS: 0, -EINVAL, -EHOSTDOWN, -ETIMEDOUT, -EINTR. Takes rwsem. */
int counters_command(struct instance *instance, struct lwk_counters *request);
/* Stops hardware counters on CPUs that are about to go back to Linux. Takes rwsem. */
void counters_remove(struct instance *instance);

#endif
