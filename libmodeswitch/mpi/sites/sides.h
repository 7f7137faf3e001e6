/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A side is the bytes that a rank gives to each rank, or takes from each, as a call of MPI names them. */
#ifndef MPI_SIDES_H
#define MPI_SIDES_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/sites/messages.h"
#include "mpi/sites/sites.h"

struct side {
	char *buffer;
	uint64_t type;
	int count; /* elements of each rank, one rank after another, if the arrays are NULL */
	const int *counts, *places;
	bool copied; /* the bytes that are sent or received are not those of the buffer */
	int64_t size, extent;
	uint64_t communicator;
	char **copies; /* of each rank */
	int result;    /* the error of the last function of MPI that failed, or 0 */
};

/* False: the arguments are wrong, and the library is to say so. */
bool side_is_sound(const struct side *side, const struct team *team);
/* side_close() must follow; it returns the side's result. */
void side_open(struct side *side, const struct team *team);
int side_close(struct side *side, const struct team *team);

int64_t side_elements(const struct side *side, int rank);
int64_t side_bytes(const struct side *side, int rank);
/* Returns where the elements of a rank are in the program's buffer. */
char *side_place(const struct side *side, int rank);

/* Returns the bytes for a rank, packed if need be; the side keeps them. */
const char *side_bytes_for(struct side *side, int rank);
/* Returns where the bytes of a rank are to come; side_arrived() must follow. */
char *side_room(struct side *side, int rank);
void side_arrived(struct side *side, int rank);

/* Begins to send the bytes for the rank 'index' to 'peer'. */
void side_send(struct messages *messages, struct side *side, int index, int peer);
/* Begins to receive the bytes of 'peer'. */
void side_receive(struct messages *messages, struct side *side, int peer);

#endif
