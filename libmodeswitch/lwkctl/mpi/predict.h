/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time that an MPI program would take if its ranks were on several sites. */
#ifndef LWKCTL_MPI_PREDICT_H
#define LWKCTL_MPI_PREDICT_H

#include "lwkctl/mpi/profile.h"

/* The link between any two sites: seconds that it adds to a message, bytes a second each way. */
struct link {
	double delay, bandwidth;
};

struct prediction {
	double seconds; /* what was measured, and what the link adds */
	double bytes;	/* that cross between sites */
	double waits;	/* for messages that cross, of the rank that has most of them */
};

/* 'site' has the site of each rank. Returns 0, or -1 without memory. */
int predict(const struct profile *profile, const int *site, const struct link *link,
	    struct prediction *prediction);

/*
 * Calls edge() for each pair of ranks between which a collective operation sends, with the bytes
 * that go each way, and the round of the algorithm. The algorithms are the common ones for unknown
 * implementations: a binomial tree from the group's first rank, recursive doubling, all pairs.
 */
void predict_pattern(const struct profile_operation *operation,
		     void (*edge)(int a, int b, double bytes, int round, void *context),
		     void *context);

#endif
