/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKCTL_CALIBRATE_H
#define LWKCTL_CALIBRATE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"

struct calibration_request {
	hwloc_const_bitmap_t from, to;
	uint64_t bytes;	     /* of memory that is moved to and fro */
	double wanted;	     /* percent of a CPU, for which settings are proposed */
	const char *picture; /* a file, .svg or .png; NULL: none */
	bool json;
	bool (*stop)(void *context);
};

/* Measures, prints and draws. */
int calibrate(const struct calibration_request *request, struct ms_error *err);

#endif
