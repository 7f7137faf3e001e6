/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Predicts which way a collective operation is faster: the MPI library's own, which takes no notice
 * of sites, or one that crosses between sites as seldom as can be. All ranks of a communicator come
 * to the same answer, because it depends on nothing but the communicator, the measured links, and
 * sizes that are the same on each.
 */
#ifndef MPI_MODEL_H
#define MPI_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "mpi/sites/sites.h"

enum operation {
	BARRIER_OF,
	BCAST_OF,
	REDUCE_OF,
	ALLREDUCE_OF,
	ALLGATHER_OF,
	GATHER_OF,
	GATHERV_OF,
	ALLTOALL_OF,
	ALLTOALLV_OF,
	N_OPERATIONS
};
/* Returns memory for the answers of a team, to be freed with free(); NULL without memory. */
int8_t *model_plans(void);
/*
 * Returns the number of lanes in which an operation with so many bytes should cross; 0: the
 * library's own way. 'bytes' are what the operation gives to a rank, or to the root. The lanes of
 * gather and alltoall are all ranks, or one rank of each site. Those of gatherv and alltoallv are
 * chosen for long messages, because not all ranks know the sizes; with short ones both ways take the
 * same time.
 */
int model_lanes(const struct team *team, enum operation operation, uint64_t bytes);
/*
 * Returns how many connections carry the bytes of each lane in a broadcast or a reduction with so many
 * lanes, at most as many as there are lanes: where connections begin slowly, many carry the bytes
 * sooner.
 */
int model_senders(int lanes);
/*
 * Returns how many ranks of a site, with the root among them, should get what ranks of other sites send to
 * the root in a gather.
 */
int model_helpers(const struct team *team, int site);

#endif
