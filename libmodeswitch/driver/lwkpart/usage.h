/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads an lwkpart instance's status area, which the LWK writes and which is not trusted. */
#ifndef USAGE_H
#define USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "modeswitch/counters.h"
#include "modeswitch/watch.h"

/* Bounds that Linux itself knows and by which the values in a status area are checked. */
struct usage_bounds {
	size_t bytes;	 /* of the copy of the status area */
	unsigned n_cpus; /* elements of its array of CPUs */
	uint64_t memory; /* bytes of the partition */
	uint64_t tsc;	 /* TSC value when the area was copied */
	uint32_t tsc_khz;
};

/*
 * Fills *usage except when_ns. 0; -ENODATA: the area is not a status area (yet); -ENOMEM.
 * ms_usage_release() frees what *usage holds.
 */
int usage_from_status(const struct lwk_status *status, const struct usage_bounds *bounds,
		      struct ms_usage *usage);

/*
 * Fills *counters with the values of the counters 'set'. A CPU that counts others is torn. Errors
 * as above; ms_counters_release() frees what *counters holds.
 */
int counters_from_status(const struct lwk_counters *set, const struct lwk_status *status,
			 const struct usage_bounds *bounds, struct ms_counters *counters);

#endif
