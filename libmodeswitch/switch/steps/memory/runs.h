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
 * A larger run than a block would have been blocks; what does not end soon is as good as not
 * there, since the search for a smaller run is faster.
 */
int take_runs(struct attempt *attempt, unsigned node, uint64_t *left, struct ms_error *err);

#endif
