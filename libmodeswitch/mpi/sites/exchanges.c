// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/exchanges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/sites/collectives.h"
#include "mpi/library/library.h"
#include "mpi/sites/messages.h"
#include "mpi/sites/model.h"
#include "mpi/sites/parts.h"
#include "mpi/sites/sites.h"

/* ---- what a rank has for each rank, or wants from it ---- */

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

/* The library says what is wrong. */
static bool is_sound(const struct side *side, const struct team *team)
{
	bool sound = library_type_size(side->type) >= 0 && side->count >= 0;

	for (int i = 0; side->counts && i < team->size; i++)
		sound = sound && side->counts[i] >= 0;
	return sound;
}

static void open_side(struct side *side, const struct team *team)
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

static int close_side(struct side *side, const struct team *team)
{
	for (int i = 0; i < team->size; i++)
		free(side->copies[i]);
	free(side->copies);
	return side->result;
}

static int64_t elements(const struct side *side, int rank)
{
	return side->counts ? side->counts[rank] : side->count;
}

static int64_t bytes_of(const struct side *side, int rank)
{
	return elements(side, rank) * side->size;
}

static char *place_of(const struct side *side, int rank)
{
	int64_t place = side->places ? side->places[rank] : rank * (int64_t)side->count;

	return side->buffer + place * side->extent;
}

/* MPI numbers packed bytes by an int. */
#define AT_ONCE (1 << 30)

/* Packs the elements of a rank into its copy, or the other way round. */
static void repack(struct side *side, int rank, enum library_function function)
{
	int64_t left = elements(side, rank), most = side->size ? AT_ONCE / side->size : left;
	char *at = place_of(side, rank), *copy = side->copies[rank];

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

/* Returns the bytes for a rank. */
static const char *bytes_for(struct side *side, int rank)
{
	if (!side->copied)
		return place_of(side, rank);
	if (!side->copies[rank]) {
		side->copies[rank] = messages_room(bytes_of(side, rank));
		repack(side, rank, PACK);
	}
	return side->copies[rank];
}

/* Returns where the bytes of a rank are to come; arrived() must follow. */
static char *room_of(struct side *side, int rank)
{
	if (!side->copied)
		return place_of(side, rank);
	side->copies[rank] = messages_room(bytes_of(side, rank));
	return side->copies[rank];
}

static void arrived(struct side *side, int rank)
{
	if (side->copies[rank])
		repack(side, rank, UNPACK);
}

static void send_to(struct messages *messages, struct side *side, int index, int peer)
{
	if (bytes_of(side, index))
		messages_send(messages, bytes_for(side, index), bytes_of(side, index), library.byte,
			      1, peer);
}

static void receive_from(struct messages *messages, struct side *side, int peer)
{
	if (bytes_of(side, peer))
		messages_receive(messages, room_of(side, peer), bytes_of(side, peer), library.byte,
				 1, peer);
}

/* ---- gather and gatherv ---- */

/* Each rank sends its bytes to the root; 'all' is the root's. */
static int gather_direct(const struct team *team, int root, struct side *own, struct side *all)
{
	struct messages messages = messages_open(team->own_communicator);
	int result;

	if (team->rank != root) {
		send_to(&messages, own, 0, root);
		return messages_close(&messages);
	}
	for (int i = 0; i < team->size; i++) {
		if (i != root)
			receive_from(&messages, all, i);
	}
	/* With MPI_IN_PLACE they are there already. */
	if (place_of(own, 0) != place_of(all, root) && bytes_of(own, 0))
		memcpy(room_of(all, root), bytes_for(own, 0), bytes_of(own, 0));
	result = messages_close(&messages);
	for (int i = 0; i < team->size && !result; i++)
		arrived(all, i);
	return result;
}

/*
 * A gather in which each rank of another site sends pieces of its bytes: the k-th one to the k-th helper.
 * Helpers are the root and the ranks that follow it on its site, which send on to the root what they
 * got, of all those ranks in their order.
 */
struct pieces {
	const struct team *team;
	int root, site; /* the root's */
	int n, each;	/* pieces, and bytes of a rank */
	int far;	/* ranks on other sites */
};

static int helper(const struct pieces *pieces, int k)
{
	const struct team *team = pieces->team;
	int place = team->index_of[pieces->root] + k;

	return sites_member(team, pieces->site, place % team->site_sizes[pieces->site]);
}

/* The place of this rank among the helpers; the root's is 0. */
static int helper_number(const struct pieces *pieces)
{
	const struct team *team = pieces->team;
	int size = team->site_sizes[team->site];

	return (team->index - team->index_of[pieces->root] + size) % size;
}

static int send_pieces(const struct pieces *pieces, const char *bytes)
{
	struct messages messages = messages_open(pieces->team->own_communicator);

	for (int k = 0; k < pieces->n; k++) {
		struct share piece = parts_one(pieces->each, k, pieces->n);

		messages_send(&messages, bytes + piece.place, piece.n, library.byte, 1,
			      helper(pieces, k));
	}
	return messages_close(&messages);
}

/* A rank of the root's site sends its own bytes, and then what it got for the root. */
static int help(const struct pieces *pieces, struct side *own)
{
	const struct team *team = pieces->team;
	int k = helper_number(pieces), sent, result = 0;
	int n = k < pieces->n ? parts_one(pieces->each, k, pieces->n).n : 0;
	struct messages to_root = messages_open(team->own_communicator);
	struct messages messages = messages_open(team->own_communicator);
	char *passed = messages_room((size_t)n * pieces->far), *at = passed;

	send_to(&to_root, own, 0, pieces->root);
	for (int i = 0; i < team->size && n; i++) {
		if (team->site_of[i] == pieces->site)
			continue;
		messages_receive(&messages, at, n, library.byte, 1, i);
		at += n;
	}
	result = messages_close(&messages);
	if (n && !result)
		messages_send(&to_root, passed, at - passed, library.byte, 1, pieces->root);
	sent = messages_close(&to_root);
	free(passed);
	return result ? result : sent;
}

/* Puts the pieces that came by way of helpers to their places. */
static void sort_pieces(const struct pieces *pieces, const char *passed, char *const *rooms)
{
	for (int k = 1; k < pieces->n; k++) {
		struct share piece = parts_one(pieces->each, k, pieces->n);

		for (int i = 0; i < pieces->team->size; i++) {
			if (pieces->team->site_of[i] == pieces->site)
				continue;
			memcpy(rooms[i] + piece.place, passed, piece.n);
			passed += piece.n;
		}
	}
}

static int collect_pieces(const struct pieces *pieces, struct side *own, struct side *all)
{
	const struct team *team = pieces->team;
	struct messages messages = messages_open(team->own_communicator);
	char *passed = messages_room((size_t)pieces->each * pieces->far), *at = passed;
	char **rooms = messages_room(team->size * sizeof(*rooms));
	int result;

	for (int i = 0; i < team->size; i++) {
		bool far = team->site_of[i] != pieces->site;
		int n = far ? parts_one(pieces->each, 0, pieces->n).n : pieces->each;

		/* With MPI_IN_PLACE the root's bytes are there already. */
		if (i == pieces->root && place_of(own, 0) == place_of(all, i))
			continue;
		rooms[i] = room_of(all, i);
		if (i == pieces->root)
			memcpy(rooms[i], bytes_for(own, 0), pieces->each);
		else
			messages_receive(&messages, rooms[i], n, library.byte, 1, i);
	}
	for (int k = 1; k < pieces->n; k++) {
		int64_t n = (int64_t)parts_one(pieces->each, k, pieces->n).n * pieces->far;

		messages_receive(&messages, at, n, library.byte, 1, helper(pieces, k));
		at += n;
	}
	result = messages_close(&messages);
	if (!result)
		sort_pieces(pieces, passed, rooms);
	for (int i = 0; i < team->size && !result; i++)
		arrived(all, i);
	free(rooms);
	free(passed);
	return result;
}

static int gather_in_pieces(const struct team *team, int root, struct side *own, struct side *all,
			    int helpers)
{
	int each = bytes_of(own, 0);
	struct pieces pieces = { .team = team,
				 .root = root,
				 .site = team->site_of[root],
				 .n = each < helpers ? each : helpers,
				 .each = each };

	pieces.far = team->size - team->site_sizes[pieces.site];
	if (team->rank == root)
		return collect_pieces(&pieces, own, all);
	return team->site == pieces.site ? help(&pieces, own)
					 : send_pieces(&pieces, bytes_for(own, 0));
}

/*
 * Each site gathers by itself, and its first rank sends all to the root. 'blocks' is the root's: the
 * sites' bytes one after another, of each site those of its ranks in their order.
 */
static int gather_blocks(const struct team *team, int root, const char *own, int each, char *blocks)
{
	struct messages messages = messages_open(team->own_communicator);
	bool at_root = team->site == team->site_of[root];
	int to = at_root ? team->index_of[root] : 0, result, closed;
	size_t bytes = (size_t)each * team->site_sizes[team->site];
	char *block = NULL;

	if (team->rank == root)
		block = blocks + (size_t)each * team->firsts[team->site];
	else if (team->index == to)
		block = messages_room(bytes);
	for (int site = 0; site < team->n_sites && team->rank == root; site++) {
		if (site != team->site)
			messages_receive(&messages, blocks + (size_t)each * team->firsts[site],
					 (int64_t)each * team->site_sizes[site], library.byte, 1,
					 sites_member(team, site, 0));
	}
	result = LIBRARY_CALL(GATHER, own, each, library.byte, block, each, library.byte, to,
			      team->site_communicator);
	if (!result && !at_root && team->index == to)
		messages_send(&messages, block, bytes, library.byte, 1, root);
	closed = messages_close(&messages);
	if (team->rank != root)
		free(block);
	return result ? result : closed;
}

static int gather_in_one_lane(const struct team *team, int root, struct side *own, struct side *all)
{
	int each = bytes_of(own, 0), result;
	char *blocks = NULL;

	if (team->rank == root)
		blocks = messages_room((size_t)each * team->size);
	result = gather_blocks(team, root, bytes_for(own, 0), each, blocks);
	for (int i = 0; !result && i < team->size && team->rank == root; i++) {
		int rank = team->members[i];

		memcpy(room_of(all, rank), blocks + (size_t)each * i, each);
		arrived(all, rank);
	}
	free(blocks);
	return result;
}

static int gather(const struct team *team, int root, struct side *own, struct side *all, int lanes,
		  int helpers)
{
	int result, closed;

	if (team->rank == root)
		open_side(all, team);
	/* With MPI_IN_PLACE the elements in the buffer are the rank's own. */
	if ((uint64_t)own->buffer == library.in_place) {
		own->type = all->type;
		own->count = elements(all, root);
		own->buffer = place_of(all, root);
	}
	open_side(own, team);
	if (lanes == 1)
		result = gather_in_one_lane(team, root, own, all);
	else if (helpers > 1)
		result = gather_in_pieces(team, root, own, all, helpers);
	else
		result = gather_direct(team, root, own, all);
	closed = close_side(own, team);
	result = result ? result : closed;
	closed = team->rank == root ? close_side(all, team) : 0;
	return result ? result : closed;
}

int exchanges_gather(const uint64_t *a)
{
	struct team *team = sites_team(a[8]);
	struct side own = { .buffer = (char *)a[1], .count = a[2], .type = a[3] };
	struct side all = { .buffer = (char *)a[4], .count = a[5], .type = a[6] };
	bool in_place = a[1] == library.in_place;
	int each = in_place ? library_bytes(a[5], a[6]) : library_bytes(a[2], a[3]);
	int root = a[7], lanes;

	if (!team || root < 0 || root >= team->size || each <= 0)
		return LIBRARY_S_WAY;
	lanes = model_lanes(team, GATHER_OF, (uint64_t)each * team->size);
	return lanes ? gather(team, root, &own, &all, lanes,
			      model_helpers(team, team->site_of[root]))
		     : LIBRARY_S_WAY;
}

/* Only the root knows how much each rank sends, so nobody can help it. */
int exchanges_gatherv(const uint64_t *a)
{
	struct team *team = sites_team(a[9]);
	struct side own = { .buffer = (char *)a[1], .count = a[2], .type = a[3] };
	struct side all = { .buffer = (char *)a[4],
			    .counts = (const int *)a[5],
			    .places = (const int *)a[6],
			    .type = a[7] };
	int root = a[8];

	if (!team || root < 0 || root >= team->size ||
	    (a[1] != library.in_place && !is_sound(&own, team)) ||
	    (team->rank == root && !is_sound(&all, team)) || !model_lanes(team, GATHERV_OF, 0))
		return LIBRARY_S_WAY;
	return gather(team, root, &own, &all, team->size, 1);
}

/* ---- alltoall and alltoallv ---- */

/* Begins with the ranks that follow this one, so that not all send to the same rank first. */
static int exchange(const struct team *team, struct side *to, struct side *from)
{
	struct messages messages = messages_open(team->own_communicator);
	bool in_place = (uint64_t)to->buffer == library.in_place;
	int result, closed;

	open_side(from, team);
	if (in_place) {
		*to = *from;
		to->copied = true;
	}
	open_side(to, team);
	/* This must happen before the bytes of others overwrite the buffer. */
	for (int i = 0; in_place && i < team->size; i++)
		bytes_for(to, i);
	for (int i = 1; i < team->size; i++)
		receive_from(&messages, from, (team->rank + i) % team->size);
	for (int i = 1; i < team->size; i++) {
		int peer = (team->rank + i) % team->size;

		send_to(&messages, to, peer, peer);
	}
	if (bytes_of(to, team->rank))
		memcpy(room_of(from, team->rank), bytes_for(to, team->rank),
		       bytes_of(to, team->rank));
	result = messages_close(&messages);
	for (int i = 0; i < team->size && !result; i++)
		arrived(from, i);
	closed = close_side(to, team);
	result = result ? result : closed;
	closed = close_side(from, team);
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

	if (!team || !is_sound(&from, team) || (a[1] != library.in_place && !is_sound(&to, team)) ||
	    !model_lanes(team, ALLTOALLV_OF, 0))
		return LIBRARY_S_WAY;
	return exchange(team, &to, &from);
}
