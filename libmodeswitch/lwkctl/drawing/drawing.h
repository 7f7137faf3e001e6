/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of a plan, for lwkctl. */
#ifndef DRAWING_H
#define DRAWING_H

#include <hwloc.h>
#include <stdint.h>
#include <stdio.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"

/* What a picture shows. */
struct drawing {
	hwloc_topology_t topology;
	const struct ms_config *config;
	const struct ms_plan *plan;
	hwloc_const_bitmap_t lent; /* CPUs that other jobs' LWKs have */
};

/* Whose a CPU is, or will be. */
enum role { ROLE_OTHER, ROLE_SYSTEM, ROLE_LINUX, ROLE_LWK, ROLE_IDLE, ROLE_LENT, N_ROLES };
enum role drawing_role(const struct drawing *drawing, unsigned cpu);
const char *drawing_role_text(enum role role);
/* 0 when the plan takes nothing from that node. */
uint64_t drawing_bytes(const struct drawing *drawing, unsigned node);

/* In lines and letters; in colour when 'out' is a terminal. */
void drawing_print(const struct drawing *drawing, FILE *out);
/* By hwloc's lstopo. */
int drawing_write_svg(const struct drawing *drawing, const char *path, struct ms_error *err);

#endif
