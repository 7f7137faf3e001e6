/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The method Adaptive: pages move in the order of their use, which is looked at again as it
 * changes.
 */
#ifndef ADAPTIVE_H
#define ADAPTIVE_H

#include "migrate/rounds.h"
#include "modeswitch/error.h"

struct migration;

/* Moves the pages of all known processes. 0, also when it was stopped; or -1. */
int run_adaptive(struct migration *migration, struct refs *refs, struct ms_error *err);

#endif
