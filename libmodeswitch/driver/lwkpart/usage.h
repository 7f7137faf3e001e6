/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes sense of an lwkpart instance's status area, without trusting a word of it.
 */
#ifndef USAGE_H
#define USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "modeswitch/counters.h"
#include "modeswitch/watch.h"

/* What Linux itself knows, and what a status area is measured by. */
struct usage_bounds {
	size_t bytes;	 /* of the copy of the status area */
	unsigned n_cpus; /* elements in it */
	uint64_t memory; /* bytes of the partition */
	uint64_t tsc;	 /* TSC value when it was copied */
	uint32_t tsc_khz;
};

/* Fills *usage, but for when_ns. 0; -ENODATA: it is no status area (yet); -ENOMEM. */
int usage_from_status(const struct lwk_status *status, const struct usage_bounds *bounds,
		      struct ms_usage *usage);

/* The values of 'set' counters; a CPU that has others is torn. Errors as above. */
int counters_from_status(const struct lwk_counters *set, const struct lwk_status *status,
			 const struct usage_bounds *bounds, struct ms_counters *counters);

#endif
