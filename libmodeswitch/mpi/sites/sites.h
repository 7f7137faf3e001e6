/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sites of a communicator's ranks, and communicators along and across them. */
#ifndef MPI_SITES_H
#define MPI_SITES_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds that a small message takes, and bytes a second. */
struct path {
	double delay, rate;
};

/* A communicator whose ranks are on several sites. Sites are numbered by their first ranks. */
struct team {
	uint64_t handle;
	bool spans; /* false: it has one site, or is unknown; nothing below is valid then */
	int size, rank, n_sites, site;
	int index; /* the place of this rank among the ranks of its site, by their numbers */
	/* The first 'lanes' ranks of each site have counterparts on each other site. */
	int lanes;
	int *site_of, *index_of; /* site and index of each rank */
	int *site_sizes;
	int *members;		    /* the ranks of the first site, then those of the next one */
	int *firsts;		    /* of each site, its place in 'members' */
	uint64_t site_communicator; /* the ranks of this rank's site, by their indexes */
	uint64_t own_communicator;  /* all ranks, for messages that no program sees */
	int8_t *plans;		    /* the model's */
};

static inline int sites_member(const struct team *team, int site, int index)
{
	return team->members[team->firsts[site] + index];
}

/* sites_begin() sets the variables below. True: some ranks may be on other sites than this one. */
extern bool sites_enabled;
/* True: reductions whose result depends on the order of the ranks go the MPI library's own way. */
extern bool sites_reproducible;
/* True: all operations that can use lanes do, with one and all of them in turns; for tests. */
extern bool sites_always;
/*
 * Measured paths: between ranks of one site; between two sites by one message, as MPI libraries
 * send it; by a message in pieces; and in pieces in all lanes at once.
 */
extern struct path sites_inside, sites_across, sites_pieces, sites_lanes;
/* True: after a pause a path carries little at first, as TCP does by default. */
extern bool sites_start_slowly;
#define SITES_PROBE_BYTES 262144 /* that rates were measured with */

/* After MPI_Init, on all ranks: learns their sites when the environment asks for it. */
void sites_begin(bool threads);
/*
 * Returns the team of a communicator; NULL when its ranks are not on several sites. The first call
 * for a communicator is collective. The result is valid until sites_forget().
 */
struct team *sites_team(uint64_t handle);
/* Before a communicator is freed, on all its ranks. */
void sites_forget(uint64_t handle);

#endif
