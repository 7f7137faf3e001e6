// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/parts.h"

#include "mpi/library/library.h"
#include "mpi/sites/messages.h"

struct share parts_one(int n, int i, int shares)
{
	int more = n % shares;

	return (struct share){ .n = n / shares + (i < more),
			       .place = i * (n / shares) + (i < more ? i : more) };
}

struct parts parts_share(const struct team *team, int n, int lanes)
{
	int size = team->site_sizes[team->site];
	struct parts parts = { .counts = messages_room(2 * size * sizeof(int)) };

	parts.places = parts.counts + size;
	for (int i = 0; i < size; i++) {
		struct share mine = i < lanes ? parts_one(n, i, lanes) : (struct share){ 0, n };

		parts.counts[i] = mine.n;
		parts.places[i] = mine.place;
	}
	parts.mine = parts.counts[team->index];
	parts.place = parts.places[team->index];
	return parts;
}

/* The most ranks of a site that send to each other all at once. */
#define SMALL_SITE 8

bool parts_at_once(const struct team *team)
{
	return team->site_sizes[team->site] <= SMALL_SITE;
}

int parts_spread(const struct team *team, char *buffer, const struct parts *parts, uint64_t type,
		 int64_t size)
{
	struct messages messages = messages_open(team->site_communicator);

	if (!parts_at_once(team))
		return LIBRARY_CALL(ALLGATHERV, library.in_place, 0, type, buffer, parts->counts,
				    parts->places, type, team->site_communicator);
	for (int i = 0; i < team->site_sizes[team->site]; i++) {
		if (i == team->index)
			continue;
		if (parts->counts[i])
			messages_receive(&messages, buffer + parts->places[i] * size,
					 parts->counts[i], type, size, i);
		if (parts->mine)
			messages_send(&messages, buffer + parts->place * size, parts->mine, type,
				      size, i);
	}
	return messages_close(&messages);
}

int parts_give(const struct team *team, char *bytes, int n, int from)
{
	struct messages messages = messages_open(team->site_communicator);

	if (!parts_at_once(team))
		return LIBRARY_CALL(BCAST, bytes, n, library.byte, from, team->site_communicator);
	for (int i = 0; i < team->site_sizes[team->site]; i++) {
		if (team->index == from && i != from)
			messages_send(&messages, bytes, n, library.byte, 1, i);
	}
	if (team->index != from)
		messages_receive(&messages, bytes, n, library.byte, 1, from);
	return messages_close(&messages);
}
