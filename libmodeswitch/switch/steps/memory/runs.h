/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes contiguous runs of memory that the driver finds, where whole blocks do not go off-line.
 */
#ifndef MEMORY_RUNS_H
#define MEMORY_RUNS_H

#include <stdint.h>

#include "modeswitch/error.h"
#include "switch/steps/memory/attempt.h"

/*
 * Takes runs of a NUMA node, the largest first, *left bytes of them if there are enough, and
 * subtracts what it got. 0 also when there are not enough; -1 on an error.
 */
int take_runs(struct attempt *attempt, unsigned node, uint64_t *left, struct ms_error *err);

#endif
