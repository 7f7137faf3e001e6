/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that are shared out among the lanes of a site, and how all of its ranks get them. */
#ifndef MPI_PARTS_H
#define MPI_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/sites/sites.h"

struct share {
	int n, place;
};
/* Returns how many of n elements the i-th of so many shares has, and where it begins. */
struct share parts_one(int n, int i, int shares);

/* A part for each lane. The owner of the parts frees 'counts', whose memory holds 'places', too. */
struct parts {
	int *counts, *places; /* of each rank of a site; beyond the lanes they are 0 and the end */
	int mine, place;
};
/* Shares n elements out among the lanes, for the ranks of this rank's site. */
struct parts parts_share(const struct team *team, int n, int lanes);

/*
 * True when this rank's site is small. Within a small site each rank sends to each other one at
 * once, in pieces: fewer messages follow one another than in the library's algorithms, and none
 * waits for an answer.
 */
bool parts_at_once(const struct team *team);

/*
 * These are collective on a site and return what MPI functions return. The first one gives all
 * parts, of elements of 'size' bytes, to all ranks of the site; the second one all bytes of the rank
 * with the index 'from'.
 */
int parts_spread(const struct team *team, char *buffer, const struct parts *parts, uint64_t type,
		 int64_t size);
int parts_give(const struct team *team, char *bytes, int n, int from);

#endif
