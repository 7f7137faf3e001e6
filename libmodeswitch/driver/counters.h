/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translates names of events into counters of a CPU. Has no side effects.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stddef.h>

#include "abi/lwkshared.h"
#include "modeswitch/counters.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

/*
 * Finds a counter for each event, on CPUs with that PMU. Prefers the fixed counter of an event, so
 * that general ones are left for other events. 0 or -1.
 */
int counters_place(const char *const *events, size_t n, const struct ms_pmu *pmu,
		   struct lwk_counter counters[MS_MAX_COUNTERS], struct ms_error *err);

/* Writes the name of a counter's event, as counters_place() takes it. */
void counters_name(const struct lwk_counter *counter, char name[MS_COUNTER_NAME_SIZE]);

#endif
