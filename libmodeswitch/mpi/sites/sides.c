// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/sides.h"

#include <stdlib.h>

#include "mpi/library/library.h"

bool side_is_sound(const struct side *side, const struct team *team)
{
	bool sound = library_type_size(side->type) >= 0 && side->count >= 0;

	for (int i = 0; side->counts && i < team->size; i++)
		sound = sound && side->counts[i] >= 0;
	return sound;
}

void side_open(struct side *side, const struct team *team)
{
	int64_t least;

	side->size = library_type_size(side->type);
	side->communicator = team->handle;
	side->copied = side->copied || !library_type_is_dense(side->type);
	LIBRARY_CALL(TYPE_GET_EXTENT, side->type, &least, &side->extent);
	side->copies = calloc(team->size, sizeof(*side->copies));
	/* The other ranks wait for this one's messages. */
	if (!side->copies)
		abort();
}

int side_close(struct side *side, const struct team *team)
{
	for (int i = 0; i < team->size; i++)
		free(side->copies[i]);
	free(side->copies);
	return side->result;
}

int64_t side_elements(const struct side *side, int rank)
{
	return side->counts ? side->counts[rank] : side->count;
}

int64_t side_bytes(const struct side *side, int rank)
{
	return side_elements(side, rank) * side->size;
}

char *side_place(const struct side *side, int rank)
{
	int64_t place = side->places ? side->places[rank] : rank * (int64_t)side->count;

	return side->buffer + place * side->extent;
}

/* MPI numbers packed bytes by an int. */
#define AT_ONCE (1 << 30)

/* Packs the elements of a rank into its copy, or the other way round. */
static void repack(struct side *side, int rank, enum library_function function)
{
	int64_t left = side_elements(side, rank), most = side->size ? AT_ONCE / side->size : left;
	char *at = side_place(side, rank), *copy = side->copies[rank];

	for (int64_t now; left > 0 && !side->result; left -= now) {
		int place = 0;

		now = left < most ? left : most;
		now = now ? now : 1;
		if (function == PACK)
			side->result = LIBRARY_CALL(PACK, at, now, side->type, copy,
						    now * side->size, &place, side->communicator);
		else
			side->result = LIBRARY_CALL(UNPACK, copy, now * side->size, &place, at, now,
						    side->type, side->communicator);
		at += now * side->extent;
		copy += now * side->size;
	}
}

const char *side_bytes_for(struct side *side, int rank)
{
	if (!side->copied)
		return side_place(side, rank);
	if (!side->copies[rank]) {
		side->copies[rank] = messages_room(side_bytes(side, rank));
		repack(side, rank, PACK);
	}
	return side->copies[rank];
}

char *side_room(struct side *side, int rank)
{
	if (!side->copied)
		return side_place(side, rank);
	side->copies[rank] = messages_room(side_bytes(side, rank));
	return side->copies[rank];
}

void side_arrived(struct side *side, int rank)
{
	if (side->copies[rank])
		repack(side, rank, UNPACK);
}

void side_send(struct messages *messages, struct side *side, int index, int peer)
{
	if (side_bytes(side, index))
		messages_send(messages, side_bytes_for(side, index), side_bytes(side, index),
			      library.byte, 1, peer);
}

void side_receive(struct messages *messages, struct side *side, int peer)
{
	if (side_bytes(side, peer))
		messages_receive(messages, side_room(side, peer), side_bytes(side, peer),
				 library.byte, 1, peer);
}
