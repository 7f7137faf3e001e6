/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile of an MPI program, as liblwkmpi.so writes it, put together from its ranks' parts. */
#ifndef LWKCTL_MPI_PROFILE_H
#define LWKCTL_MPI_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modeswitch/error.h"

#define PROFILE_RANKS_MAX 16384

struct profile_rank {
	bool present; /* its part is there: it was not killed before it could be saved */
	char host[65];
	double seconds, mpi_seconds;
	uint64_t waits;	   /* calls of MPI_Wait and its kin */
	uint64_t receives; /* calls that may wait for a message: these, and blocking receives */
	uint64_t unknown_turns;
};

/*
 * Messages from one rank to another; fetched bytes go from their owner to the rank that fetched
 * them.
 */
struct profile_edge {
	int from, to;
	uint64_t n, bytes, blocking;
	/* Turns that 'to' has counted: see mpi/turns.c. None: the profile is older than they are. */
	uint64_t leads, follows;
	uint64_t hidden; /* meetings that 'to' came to late, by a turn with 'from' as leader */
	double stream_seconds; /* from the first message of a stream to its last one, all streams */
};

/* Collective operations of one name, group and size class. */
struct profile_operation {
	char name[33], group[17];
	const int *members; /* NULL: unknown */
	int size;
	int class;
	uint64_t n;	/* operations: the most calls of a rank */
	uint64_t bytes; /* of all ranks together */
	double seconds; /* of all ranks together */
};

struct profile_function {
	char name[33];
	uint64_t n;
	double seconds, most; /* of all ranks together; of one rank */
};

struct profile {
	char job[33], program[257];
	char program_hash[17]; /* of 16 digits; "": unknown, or parts of several programs */
	bool several_programs;
	int ranks, present;
	struct profile_rank *rank;
	struct profile_edge *edges; /* sorted by 'from', then 'to'; none twice */
	size_t n_edges;
	struct profile_operation *operations;
	size_t n_operations;
	struct profile_function *functions; /* the longest first */
	size_t n_functions;
	uint64_t unknown_peers, unknown_sizes, lost;
	/* The rest is private. The places of names in 'groups' and 'functions': objects of JSON. */
	struct profile_group *groups;
	size_t n_groups;
	struct json_object *group_places, *function_places;
};

/*
 * Reads a file, or the parts of one profile in several files. 0 or -1; then *profile is to be
 * released with profile_release().
 */
int profile_read(char *const *paths, int n, struct profile *profile, struct ms_error *err);
/* Reads a profile from a text of 'length' bytes; 'name' is for messages. */
int profile_parse(const char *text, size_t length, const char *name, struct profile *profile,
		  struct ms_error *err);
void profile_release(struct profile *profile);

/* The longest time of a rank from MPI_Init to MPI_Finalize, in seconds. */
double profile_seconds(const struct profile *profile);

#endif
