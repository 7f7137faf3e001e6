/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drawing a plan, for the fuzzers that make one.
 */
#ifndef FUZZ_DRAW_H
#define FUZZ_DRAW_H

#include <hwloc.h>
#include <stdio.h>

#include "fuzz.h"
#include "lwkctl/drawing/drawing.h"
#include "modeswitch/plan.h"

/* Draws a plan for the machine in the file at 'path', which the plan was made from. */
static inline void draw_plan(const char *path, const struct ms_config *config,
			     const struct ms_plan *plan)
{
	static FILE *nowhere;
	hwloc_bitmap_t lent = hwloc_bitmap_alloc();
	struct drawing drawing = { .config = config, .plan = plan, .lent = lent };
	struct ms_error err;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	must(ms_topology_load(path, &drawing.topology, &err) == 0);
	drawing_print(&drawing, nowhere);
	hwloc_topology_destroy(drawing.topology);
	hwloc_bitmap_free(lent);
}

#endif
