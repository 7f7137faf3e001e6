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
 * Takes blocks of a NUMA node, *left bytes of them if there are enough, and subtracts what it got.
 * Each block is in the journal before it goes. 0 also when there are not enough; -1 on an error.
 */
int take_blocks(struct attempt *attempt, unsigned node, uint64_t *left, struct ms_error *err);

#endif
