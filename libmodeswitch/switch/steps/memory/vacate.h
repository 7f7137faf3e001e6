/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moves the pages of Linux's programs out of memory that is about to be taken.
 */
#ifndef MEMORY_VACATE_H
#define MEMORY_VACATE_H

#include <stddef.h>

#include "migrate/migrate.h"
#include "switch/steps/memory/attempt.h"

/*
 * Moves the pages that programs have in these ranges of the NUMA node to other nodes, within the
 * limits of lwk.conf. Linux itself moves the rest, such as cached files that nobody maps, to any
 * place when the blocks go off-line. A failure is logged and is no reason to refuse the job: Linux
 * then moves everything.
 */
void vacate(struct attempt *attempt, unsigned node, const struct migrate_range *ranges, size_t n);

#endif
