/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKCTL_CALIBRATE_H
#define LWKCTL_CALIBRATE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"

struct calibration_request {
	hwloc_const_bitmap_t from, to;
	uint64_t bytes;	     /* of memory to move to and fro */
	double wanted;	     /* percent of a CPU that a proposed setting may take */
	const char *picture; /* a file, .svg or .png; NULL: none */
	bool json;
	bool (*stop)(void *context); /* true: end early; the context is NULL */
};

/* Measures, prints the result on standard output and draws it. */
int calibrate(const struct calibration_request *request, struct ms_error *err);

#endif
