/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The methods Periodical, Severe and Mild of Urushida and Hirotsu (Improvement of Memory Migration
 * in Docker container scheduling on NUMA systems, figure 6): n pages move, a sleep of t ms, and so
 * on. That paper's pagelist is 'refs' here; its remlist is all pages that are PAGE_WAITING. Linux
 * seldom clears Accessed bits, so they are cleared here before the walk that looks at them.
 */
#ifndef METHODS_H
#define METHODS_H

#include "migrate/rounds.h"
#include "modeswitch/error.h"

struct migration;

/* Move the pages of all known processes. 0, also when the migration was stopped; or -1. */
int run_periodical(struct migration *migration, struct refs *refs, struct ms_error *err);
int run_severe(struct migration *migration, struct refs *refs, struct ms_error *err);
int run_mild(struct migration *migration, struct refs *refs, struct ms_error *err);

#endif
