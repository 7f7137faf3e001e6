/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a profile that one rank has written. */
#ifndef LWKCTL_MPI_PART_H
#define LWKCTL_MPI_PART_H

#include <json-c/json.h>

#include "lwkctl/mpi/profile.h"

struct profile_group {
	int size;
	int *members; /* NULL: unknown */
};

/*
 * Adds what the part tells to the profile, whose number of ranks is known: rows that another part has,
 * too, are there twice. A part that is none, or of a rank that has one, adds nothing. 0; -1 without
 * memory.
 */
int part_read(struct profile *profile, struct json_object *part);

#endif
