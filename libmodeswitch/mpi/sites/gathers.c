// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/gathers.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/library/library.h"
#include "mpi/sites/collectives.h"
#include "mpi/sites/messages.h"
#include "mpi/sites/model.h"
#include "mpi/sites/parts.h"
#include "mpi/sites/sides.h"

/* Each rank sends its bytes to the root; 'all' is the root's. */
static int gather_direct(const struct team *team, int root, struct side *own, struct side *all)
{
	struct messages messages = messages_open(team->own_communicator);
	int result;

	if (team->rank != root) {
		side_send(&messages, own, 0, root);
		return messages_close(&messages);
	}
	for (int i = 0; i < team->size; i++) {
		if (i != root)
			side_receive(&messages, all, i);
	}
	/* With MPI_IN_PLACE they are there already. */
	if (side_place(own, 0) != side_place(all, root) && side_bytes(own, 0))
		memcpy(side_room(all, root), side_bytes_for(own, 0), side_bytes(own, 0));
	result = messages_close(&messages);
	for (int i = 0; i < team->size && !result; i++)
		side_arrived(all, i);
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

	side_send(&to_root, own, 0, pieces->root);
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
		if (i == pieces->root && side_place(own, 0) == side_place(all, i))
			continue;
		rooms[i] = side_room(all, i);
		if (i == pieces->root)
			memcpy(rooms[i], side_bytes_for(own, 0), pieces->each);
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
		side_arrived(all, i);
	free(rooms);
	free(passed);
	return result;
}

static int gather_in_pieces(const struct team *team, int root, struct side *own, struct side *all,
			    int helpers)
{
	int each = side_bytes(own, 0);
	struct pieces pieces = { .team = team,
				 .root = root,
				 .site = team->site_of[root],
				 .n = each < helpers ? each : helpers,
				 .each = each };

	pieces.far = team->size - team->site_sizes[pieces.site];
	if (team->rank == root)
		return collect_pieces(&pieces, own, all);
	return team->site == pieces.site ? help(&pieces, own)
					 : send_pieces(&pieces, side_bytes_for(own, 0));
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
	int each = side_bytes(own, 0), result;
	char *blocks = NULL;

	if (team->rank == root)
		blocks = messages_room((size_t)each * team->size);
	result = gather_blocks(team, root, side_bytes_for(own, 0), each, blocks);
	for (int i = 0; !result && i < team->size && team->rank == root; i++) {
		int rank = team->members[i];

		memcpy(side_room(all, rank), blocks + (size_t)each * i, each);
		side_arrived(all, rank);
	}
	free(blocks);
	return result;
}

static int gather(const struct team *team, int root, struct side *own, struct side *all, int lanes,
		  int helpers)
{
	int result, closed;

	if (team->rank == root)
		side_open(all, team);
	/* With MPI_IN_PLACE the elements in the buffer are the rank's own. */
	if ((uint64_t)own->buffer == library.in_place) {
		own->type = all->type;
		own->count = side_elements(all, root);
		own->buffer = side_place(all, root);
	}
	side_open(own, team);
	if (lanes == 1)
		result = gather_in_one_lane(team, root, own, all);
	else if (helpers > 1)
		result = gather_in_pieces(team, root, own, all, helpers);
	else
		result = gather_direct(team, root, own, all);
	closed = side_close(own, team);
	result = result ? result : closed;
	closed = team->rank == root ? side_close(all, team) : 0;
	return result ? result : closed;
}

int gathers_gather(const uint64_t *a)
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
int gathers_gatherv(const uint64_t *a)
{
	struct team *team = sites_team(a[9]);
	struct side own = { .buffer = (char *)a[1], .count = a[2], .type = a[3] };
	struct side all = { .buffer = (char *)a[4],
			    .counts = (const int *)a[5],
			    .places = (const int *)a[6],
			    .type = a[7] };
	int root = a[8];

	if (!team || root < 0 || root >= team->size ||
	    (a[1] != library.in_place && !side_is_sound(&own, team)) ||
	    (team->rank == root && !side_is_sound(&all, team)) || !model_lanes(team, GATHERV_OF, 0))
		return LIBRARY_S_WAY;
	return gather(team, root, &own, &all, team->size, 1);
}
