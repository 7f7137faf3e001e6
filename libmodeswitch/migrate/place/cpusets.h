/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets the nodes that new pages of the processes come from: their cpusets. */
#ifndef CPUSETS_H
#define CPUSETS_H

#include <stdbool.h>

#include "modeswitch/error.h"

struct migration;

/*
 * Before pages move: has the caller allowed to take memory of the nodes to move to, because the
 * kernel allocates the new pages in its name. A caller whose cpuset lacks such a node leaves it for
 * the whole node's, which needs root. 0 or -1.
 */
int cpusets_reach(const struct migration *migration, struct ms_error *err);
/*
 * Before pages move: lets new pages of the processes come from the nodes to move to, where a cpuset
 * holds nothing but these processes. Other cpusets stay, with a note in the state. 0 or -1.
 */
int cpusets_open(struct migration *migration, struct ms_error *err);
/* After the pages have moved: takes away the nodes to be left, or restores all unless 'done'. */
void cpusets_close(struct migration *migration, bool done);

#endif
