/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting turns: receives of a rank from a peer that it has sent to since the last one. */
#ifndef MPI_TURNS_H
#define MPI_TURNS_H

#include "mpi/page.h"

/* A message went to a rank of the world; page->ranks is an unknown one, here and below. */
void turns_sent(struct page *page, uint32_t world);
/* A message from that rank was received; 'now' in ticks, here and below. */
void turns_received(struct page *page, uint32_t world, uint64_t now);
/* A receive from that rank began, which a later turns_completed() tells as received. */
void turns_posted(struct page *page, uint32_t world, uint64_t now);
void turns_completed(struct page *page, uint64_t now);
/* All ranks have waited for each other: who sends first is open again. */
void turns_met(void);

#endif
