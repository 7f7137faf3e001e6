/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes whole memory blocks from Linux by putting them off-line.
 */
#ifndef MEMORY_BLOCKS_H
#define MEMORY_BLOCKS_H

#include <stdint.h>

#include "modeswitch/error.h"
#include "switch/steps/memory/attempt.h"

/*
 * Takes blocks of a NUMA node, at most *left bytes of them; *left gets what is still wanted. Each
 * block is in the journal before it goes. 0 also when there were not enough; -1 on an error.
 */
int take_blocks(struct attempt *attempt, unsigned node, uint64_t *left, struct ms_error *err);

#endif
