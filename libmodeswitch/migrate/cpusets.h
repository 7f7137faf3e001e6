/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets the nodes that new pages of the processes come from: their cpusets. */
#ifndef CPUSETS_H
#define CPUSETS_H

#include <stdbool.h>

#include "modeswitch/error.h"

struct migration;

/*
 * Before pages move: lets new pages of the processes come from the nodes to move to, where a cpuset
 * holds nothing but these processes. Other cpusets stay, with a note in the state. 0 or -1.
 */
int cpusets_open(struct migration *migration, struct ms_error *err);
/* After the pages have moved: takes away the nodes to be left, or restores all unless 'done'. */
void cpusets_close(struct migration *migration, bool done);

#endif
