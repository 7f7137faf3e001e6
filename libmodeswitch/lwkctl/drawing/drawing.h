/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drawings of a plan, on a terminal and as SVG. */
#ifndef DRAWING_H
#define DRAWING_H

#include <hwloc.h>
#include <stdint.h>
#include <stdio.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"

/* The contents of a drawing; all belong to the caller. */
struct drawing {
	hwloc_topology_t topology;
	const struct ms_config *config;
	const struct ms_plan *plan;
	hwloc_const_bitmap_t lent; /* CPUs of other jobs' LWKs */
};

/* The owner of a CPU once the plan is carried out. */
enum role { ROLE_OTHER, ROLE_SYSTEM, ROLE_LINUX, ROLE_LWK, ROLE_IDLE, ROLE_LENT, N_ROLES };
enum role drawing_role(const struct drawing *drawing, unsigned cpu);
const char *drawing_role_text(enum role role);
/* Bytes that the plan takes from the NUMA node; 0 when it takes none. */
uint64_t drawing_bytes(const struct drawing *drawing, unsigned node);

/* Draws with lines and letters; in colour when 'out' is a terminal. */
void drawing_print(const struct drawing *drawing, FILE *out);
/* Writes an SVG file with hwloc's lstopo, a program that must be installed. */
int drawing_write_svg(const struct drawing *drawing, const char *path, struct ms_error *err);

#endif
