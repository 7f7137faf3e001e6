/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rounds: n pages move, then the migration sleeps.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "modeswitch/error.h"

struct migration;

/* Indexes of a page; not a pointer, since the list of pages moves as it grows. */
struct ref {
	uint32_t process, page;
};

/* Pages that move in the next round. */
struct refs {
	struct ref *all; /* free() */
	size_t n, room;
	uint64_t pages; /* of 4 KB */
};

/* 0, or -1 without memory. */
int refs_add(struct migration *migration, struct refs *refs, size_t process, size_t page);
/* Moves the pages in the list, empties it, and sleeps. 0, also when it was stopped; or -1. */
int run_round(struct migration *migration, struct refs *refs, struct ms_error *err);
/* Moves all pages that wait, n in a round, by process and address. 0 or -1 as above. */
int move_waiting(struct migration *migration, struct refs *refs, struct ms_error *err);

#endif
