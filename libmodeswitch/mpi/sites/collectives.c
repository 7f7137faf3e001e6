// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/library/library.h"
#include "mpi/sites/messages.h"
#include "mpi/sites/model.h"
#include "mpi/sites/parts.h"
#include "mpi/sites/sites.h"

/* ---- barrier ---- */

int collectives_barrier(const uint64_t *a)
{
	struct team *team = sites_team(a[1]);
	int result;

	if (!team || !model_lanes(team, BARRIER_OF, 0))
		return LIBRARY_S_WAY;
	result = LIBRARY_CALL(BARRIER, team->site_communicator);
	if (!result && team->index == 0) {
		struct messages messages = messages_open(team->own_communicator);

		for (int site = 0; site < team->n_sites; site++) {
			int peer = sites_member(team, site, 0);

			if (site == team->site)
				continue;
			messages_receive(&messages, NULL, 0, library.byte, 1, peer);
			messages_send(&messages, NULL, 0, library.byte, 1, peer);
		}
		result = messages_close(&messages);
	}
	return result ? result : LIBRARY_CALL(BARRIER, team->site_communicator);
}

/* ---- broadcast ---- */

/* The i-th sender: the root, and the ranks that follow it on its site. */
static int sender(const struct team *team, int root, int i)
{
	int site = team->site_of[root];

	return sites_member(team, site, (team->index_of[root] + i) % team->site_sizes[site]);
}

/* The piece of a lane's part that the i-th sender sends. */
static struct share piece_of(int n, int lane, int lanes, int i)
{
	struct share part = parts_one(n, lane, lanes);
	struct share piece = parts_one(part.n, i, model_senders(lanes));

	piece.place += part.place;
	return piece;
}

/* Sends each other site the pieces of the i-th sender. */
static void send_pieces(const struct team *team, struct messages *messages, const char *bytes,
			int n, int lanes, int i)
{
	for (int lane = 0; lane < lanes; lane++) {
		struct share piece = piece_of(n, lane, lanes, i);

		for (int site = 0; site < team->n_sites; site++) {
			if (site != team->site)
				messages_send(messages, bytes + piece.place, piece.n, library.byte,
					      1, sites_member(team, site, lane));
		}
	}
}

static int broadcast_at_root(const struct team *team, char *bytes, int n, int root, int lanes)
{
	struct messages messages = messages_open(team->own_communicator);
	int size = team->site_sizes[team->site], result, sent;
	int i = (team->index - team->index_of[root] + size) % size;

	if (i == 0)
		send_pieces(team, &messages, bytes, n, lanes, i);
	result = parts_give(team, bytes, n, team->index_of[root]);
	if (i > 0 && i < model_senders(lanes) && !result)
		send_pieces(team, &messages, bytes, n, lanes, i);
	sent = messages_close(&messages);
	return result ? result : sent;
}

static int broadcast_elsewhere(const struct team *team, char *bytes, int n, int root, int lanes)
{
	struct messages messages = messages_open(team->own_communicator);
	struct parts parts = parts_share(team, n, lanes);
	int result;

	for (int i = 0; team->index < lanes && i < model_senders(lanes); i++) {
		struct share piece = piece_of(n, team->index, lanes, i);

		messages_receive(&messages, bytes + piece.place, piece.n, library.byte, 1,
				 sender(team, root, i));
	}
	result = messages_close(&messages);
	if (!result)
		result = lanes > 1 ? parts_spread(team, bytes, &parts, library.byte, 1)
				   : parts_give(team, bytes, n, 0);
	free(parts.counts);
	return result;
}

/* The senders bring each other site its parts, one to a lane; their own site gets the bytes first. */
static int broadcast(const struct team *team, char *bytes, int n, int root, int lanes)
{
	return team->site == team->site_of[root] ? broadcast_at_root(team, bytes, n, root, lanes)
						 : broadcast_elsewhere(team, bytes, n, root, lanes);
}

int collectives_bcast(const uint64_t *a)
{
	struct team *team = sites_team(a[5]);
	int n = library_bytes(a[2], a[3]), root = a[4], lanes, place = 0, result;
	char *packed;

	if (!team || n <= 0 || root < 0 || root >= team->size)
		return LIBRARY_S_WAY;
	lanes = model_lanes(team, BCAST_OF, n);
	if (!lanes)
		return LIBRARY_S_WAY;
	/* Ranks may describe the same bytes by different types. */
	if (library_type_is_dense(a[3]))
		return broadcast(team, (char *)a[1], n, root, lanes);
	packed = messages_room(n);
	if (team->rank == root)
		LIBRARY_CALL(PACK, a[1], a[2], a[3], packed, n, &place, a[5]);
	result = broadcast(team, packed, n, root, lanes);
	place = 0;
	if (!result && team->rank != root)
		result = LIBRARY_CALL(UNPACK, packed, n, &place, a[1], a[2], a[3], a[5]);
	free(packed);
	return result;
}

/* ---- allgather and allgatherv ---- */

/*
 * The bytes of all ranks in a buffer: the sites' blocks one after another, in each those of its
 * ranks in their order.
 */
struct blocks {
	char *bytes;
	int *places; /* of each rank in that order, and where the last one ends */
};

static char *block_of(const struct team *team, const struct blocks *blocks, int site)
{
	return blocks->bytes + blocks->places[team->firsts[site]];
}

static int block_bytes(const struct team *team, const struct blocks *blocks, int site)
{
	const int *first = blocks->places + team->firsts[site];

	return first[team->site_sizes[site]] - first[0];
}

/* Gives what each rank of the site has to all of them. */
static int fill_own_block(const struct team *team, const struct blocks *blocks)
{
	int size = team->site_sizes[team->site], result;
	const int *first = blocks->places + team->firsts[team->site];
	struct parts parts = { .counts = messages_room(2 * size * sizeof(int)) };

	parts.places = parts.counts + size;
	for (int i = 0; i < size; i++) {
		parts.counts[i] = first[i + 1] - first[i];
		parts.places[i] = first[i] - first[0];
	}
	parts.mine = parts.counts[team->index];
	parts.place = parts.places[team->index];
	result = parts_spread(team, block_of(team, blocks, team->site), &parts, library.byte, 1);
	free(parts.counts);
	return result;
}

/* Each site's block is in its ranks already; the lanes bring parts of it to the other sites. */
static int gather_sites(const struct team *team, const struct blocks *blocks, int lanes)
{
	struct messages messages = messages_open(team->own_communicator);
	struct parts own = parts_share(team, block_bytes(team, blocks, team->site), lanes);
	int result;

	for (int site = 0; site < team->n_sites && team->index < lanes; site++) {
		int peer = sites_member(team, site, team->index);
		struct parts parts;

		if (site == team->site)
			continue;
		parts = parts_share(team, block_bytes(team, blocks, site), lanes);
		messages_receive(&messages, block_of(team, blocks, site) + parts.place, parts.mine,
				 library.byte, 1, peer);
		free(parts.counts);
		messages_send(&messages, block_of(team, blocks, team->site) + own.place, own.mine,
			      library.byte, 1, peer);
	}
	result = messages_close(&messages);
	free(own.counts);
	for (int site = 0; !result && site < team->n_sites; site++) {
		struct parts parts;

		if (site == team->site)
			continue;
		parts = parts_share(team, block_bytes(team, blocks, site), lanes);
		result = parts_spread(team, block_of(team, blocks, site), &parts, library.byte, 1);
		free(parts.counts);
	}
	return result;
}

/* The places of the elements of each rank. */
struct target {
	char *to;
	uint64_t type;
	const int *counts, *places; /* in elements */
};

/* Copies the bytes of each rank from the blocks to its place in the target. */
static int deal_out(const struct team *team, const struct blocks *blocks,
		    const struct target *target)
{
	bool dense = library_type_is_dense(target->type);
	int64_t least, extent;
	int result = LIBRARY_CALL(TYPE_GET_EXTENT, target->type, &least, &extent);

	for (int i = 0; !result && i < team->size; i++) {
		int rank = team->members[i], n = blocks->places[i + 1] - blocks->places[i];
		char *from = blocks->bytes + blocks->places[i];
		char *to = target->to + target->places[rank] * extent;
		int place = 0;

		if (dense)
			memcpy(to, from, n);
		else
			result = LIBRARY_CALL(UNPACK, from, n, &place, to, target->counts[rank],
					      target->type, team->handle);
	}
	return result;
}

/* Packs what this rank gives, which the first three of the function's arguments 'a' name. */
static int pack_own(const struct team *team, const uint64_t *a, const struct target *target,
		    char *to, int n)
{
	int64_t least, extent;
	int place = 0, result;

	if (a[1] != library.in_place)
		return LIBRARY_CALL(PACK, a[1], a[2], a[3], to, n, &place, team->handle);
	result = LIBRARY_CALL(TYPE_GET_EXTENT, target->type, &least, &extent);
	if (result)
		return result;
	return LIBRARY_CALL(PACK, target->to + target->places[team->rank] * extent,
			    target->counts[team->rank], target->type, to, n, &place, team->handle);
}

static int allgather(const struct team *team, const uint64_t *a, const struct target *target,
		     int bytes, int lanes)
{
	int size = library_type_size(target->type), place = 0, own, result;
	struct blocks blocks = { .bytes = messages_room(bytes),
				 .places = messages_room((team->size + 1) * sizeof(int)) };

	for (int i = 0; i < team->size; i++) {
		blocks.places[i] = place;
		place += target->counts[team->members[i]] * size;
	}
	blocks.places[team->size] = place;
	own = team->firsts[team->site] + team->index;
	result = pack_own(team, a, target, blocks.bytes + blocks.places[own],
			  blocks.places[own + 1] - blocks.places[own]);
	if (!result)
		result = fill_own_block(team, &blocks);
	if (!result)
		result = gather_sites(team, &blocks, lanes);
	if (!result)
		result = deal_out(team, &blocks, target);
	free(blocks.bytes);
	free(blocks.places);
	return result;
}

int collectives_allgather(const uint64_t *a)
{
	struct team *team = sites_team(a[7]);
	int each = library_bytes(a[5], a[6]), lanes, result;
	struct target target = { .to = (char *)a[4], .type = a[6] };
	int *numbers;

	if (!team || each <= 0 || each > LIBRARY_BYTES_MAX / team->size)
		return LIBRARY_S_WAY;
	lanes = model_lanes(team, ALLGATHER_OF, (uint64_t)each * team->size);
	if (!lanes)
		return LIBRARY_S_WAY;
	numbers = messages_room(2 * team->size * sizeof(int));
	for (int i = 0; i < team->size; i++) {
		numbers[i] = a[5];
		numbers[team->size + i] = i * (int)a[5];
	}
	target.counts = numbers;
	target.places = numbers + team->size;
	result = allgather(team, a, &target, each * team->size, lanes);
	free(numbers);
	return result;
}

int collectives_allgatherv(const uint64_t *a)
{
	struct team *team = sites_team(a[8]);
	struct target target = { .to = (char *)a[4],
				 .type = a[7],
				 .counts = (const int *)a[5],
				 .places = (const int *)a[6] };
	int64_t bytes = 0;
	int lanes;

	if (!team)
		return LIBRARY_S_WAY;
	for (int i = 0; i < team->size; i++) {
		int n = library_bytes(target.counts[i], target.type);

		/* The library says what is wrong; all ranks have the same counts. */
		if (n < 0)
			return LIBRARY_S_WAY;
		bytes += n;
	}
	if (!bytes || bytes > LIBRARY_BYTES_MAX)
		return LIBRARY_S_WAY;
	lanes = model_lanes(team, ALLGATHER_OF, bytes);
	return lanes ? allgather(team, a, &target, bytes, lanes) : LIBRARY_S_WAY;
}
