/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moves pages of one process.
 */
#ifndef MOVE_H
#define MOVE_H

#include <stddef.h>

#include "modeswitch/error.h"

struct migrate_page;
struct migrate_process;
struct migration;

/* Enters in each page what became of it. 0, or -1 when going on makes no sense. */
int pages_move(struct migration *migration, struct migrate_process *process,
	       struct migrate_page **pages, size_t n, struct ms_error *err);

#endif
