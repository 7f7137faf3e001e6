/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way home of pages that Linux jobs had on a NUMA node when an LWK job took it: which they
 * were is kept in jobs/ID.away, ID being the LWK job's, written before they move; once that job
 * has given back all it had, `lwkctl rehome` brings them home and removes the file. Whatever is
 * killed in between, the file stays, and whoever next gives memory back begins again.
 */
#ifndef AWAY_LIST_H
#define AWAY_LIST_H

#include <stdint.h>

#include "migrate/context.h"
#include "modeswitch/error.h"

/*
 * Keeps which pages of Linux jobs a migration is about to move away from 'node' for the LWK job.
 * Not those of other programs: on a node for jobs they are not at home.
 */
int home_keep(const struct migration *migration, uint32_t lwk_job, unsigned node,
	      struct ms_error *err);
/* Another LWK job has taken over the memory (KeepWarm=). */
int home_hand_on(uint32_t from, uint32_t to, struct ms_error *err);
/* Starts `lwkctl rehome`, detached, if there is anything to bring home. */
void home_start(void);

#endif
