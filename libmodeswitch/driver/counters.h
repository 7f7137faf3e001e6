/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events by their names, and the counters that count them. Pure.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stddef.h>

#include "abi/lwkshared.h"
#include "modeswitch/counters.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

/*
 * Finds a counter for each event, on CPUs with that PMU. A fixed counter is taken where there is one
 * for the event, so that the general ones are left for others.
 */
int counters_place(const char *const *events, size_t n, const struct ms_pmu *pmu,
		   struct lwk_counter counters[MS_MAX_COUNTERS], struct ms_error *err);

/* The event of a counter, as counters_place() would take it. */
void counters_name(const struct lwk_counter *counter, char name[MS_COUNTER_NAME_SIZE]);

#endif
