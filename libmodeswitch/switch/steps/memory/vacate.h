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
 * Moves what programs have in blocks that are about to go off-line to other nodes, within the
 * limits of lwk.conf. What is left, such as cached files that nobody maps, Linux moves when they go
 * off-line, to where it likes; so it does with everything if this fails, which is no reason to
 * refuse the job.
 */
void vacate(struct attempt *attempt, unsigned node, const struct migrate_range *ranges, size_t n);

#endif
