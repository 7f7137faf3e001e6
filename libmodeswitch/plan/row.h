/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of the memory blocks that a switch takes: neighbours, so that the LWK gets long runs.
 */
#ifndef ROW_H
#define ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "machine/memory.h"

/*
 * Chooses at most 'wanted' neighbours among blocks, which are sorted by address; fit[i] says
 * whether block i is a candidate. Takes the lower end of the smallest row that is long enough, so
 * that larger rows stay whole; without one, the longest row. Returns the number of blocks, the
 * first at *first.
 */
size_t row_choose(const struct memory_block *blocks, const bool *fit, size_t n, size_t wanted,
		  size_t *first);

#endif
