// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/exchanges.h"

#include <string.h>

#include "mpi/library/library.h"
#include "mpi/sites/collectives.h"
#include "mpi/sites/messages.h"
#include "mpi/sites/model.h"
#include "mpi/sites/sides.h"

/* Begins with the ranks that follow this one, so that not all send to the same rank first. */
static int exchange(const struct team *team, struct side *to, struct side *from)
{
	struct messages messages = messages_open(team->own_communicator);
	bool in_place = (uint64_t)to->buffer == library.in_place;
	int result, closed;

	side_open(from, team);
	if (in_place) {
		*to = *from;
		to->copied = true;
	}
	side_open(to, team);
	/* This must happen before the bytes of others overwrite the buffer. */
	for (int i = 0; in_place && i < team->size; i++)
		side_bytes_for(to, i);
	for (int i = 1; i < team->size; i++)
		side_receive(&messages, from, (team->rank + i) % team->size);
	for (int i = 1; i < team->size; i++) {
		int peer = (team->rank + i) % team->size;

		side_send(&messages, to, peer, peer);
	}
	if (side_bytes(to, team->rank))
		memcpy(side_room(from, team->rank), side_bytes_for(to, team->rank),
		       side_bytes(to, team->rank));
	result = messages_close(&messages);
	for (int i = 0; i < team->size && !result; i++)
		side_arrived(from, i);
	closed = side_close(to, team);
	result = result ? result : closed;
	closed = side_close(from, team);
	return result ? result : closed;
}

int exchanges_alltoall(const uint64_t *a)
{
	struct team *team = sites_team(a[7]);
	struct side to = { .buffer = (char *)a[1], .count = a[2], .type = a[3] };
	struct side from = { .buffer = (char *)a[4], .count = a[5], .type = a[6] };
	int each = library_bytes(a[5], a[6]);

	if (!team || each <= 0 || !model_lanes(team, ALLTOALL_OF, (uint64_t)each * team->size))
		return LIBRARY_S_WAY;
	return exchange(team, &to, &from);
}

/* A rank knows only how much it sends and receives itself. */
int exchanges_alltoallv(const uint64_t *a)
{
	struct team *team = sites_team(a[9]);
	struct side to = { .buffer = (char *)a[1],
			   .counts = (const int *)a[2],
			   .places = (const int *)a[3],
			   .type = a[4] };
	struct side from = { .buffer = (char *)a[5],
			     .counts = (const int *)a[6],
			     .places = (const int *)a[7],
			     .type = a[8] };

	if (!team || !side_is_sound(&from, team) ||
	    (a[1] != library.in_place && !side_is_sound(&to, team)) ||
	    !model_lanes(team, ALLTOALLV_OF, 0))
		return LIBRARY_S_WAY;
	return exchange(team, &to, &from);
}
