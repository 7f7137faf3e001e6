// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/library/library.h"
#include "mpi/sites/messages.h"
#include "mpi/sites/model.h"
#include "mpi/sites/sites.h"

void *collectives_room(size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	if (!memory)
		abort();
	return memory;
}

/* ---- parts of a buffer, one for each lane ---- */

struct parts {
	int *counts, *places; /* of each rank of a site; beyond the lanes they are 0 */
	int mine, place;
};

struct share {
	int n, place;
};

/* The i-th share of n elements, of so many shares. */
static struct share share_of(int n, int i, int shares)
{
	int more = n % shares;

	return (struct share){ .n = n / shares + (i < more),
			       .place = i * (n / shares) + (i < more ? i : more) };
}

/* Shares n elements out among the lanes, for the ranks of this rank's site. */
static struct parts share(const struct team *team, int n, int lanes)
{
	int size = team->site_sizes[team->site];
	struct parts parts = { .counts = collectives_room(2 * size * sizeof(int)) };

	parts.places = parts.counts + size;
	for (int i = 0; i < size; i++) {
		struct share mine = i < lanes ? share_of(n, i, lanes) : (struct share){ 0, n };

		parts.counts[i] = mine.n;
		parts.places[i] = mine.place;
	}
	parts.mine = parts.counts[team->index];
	parts.place = parts.places[team->index];
	return parts;
}

/*
 * Within a small site each rank sends to each other one at once, in pieces: fewer messages follow
 * one another than in the library's algorithms, and none waits for an answer.
 */
#define SMALL_SITE 8

static bool is_small(const struct team *team)
{
	return team->site_sizes[team->site] <= SMALL_SITE;
}

/* Gives all parts, of elements of 'size' bytes, to all ranks of the site. */
static int spread(const struct team *team, char *buffer, const struct parts *parts, uint64_t type,
		  int64_t size)
{
	struct messages messages = messages_open(team->site_communicator);

	if (!is_small(team))
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

/* Gives all bytes of one rank to all ranks of its site. */
static int give(const struct team *team, char *bytes, int n, int from)
{
	struct messages messages = messages_open(team->site_communicator);

	if (!is_small(team))
		return LIBRARY_CALL(BCAST, bytes, n, library.byte, from, team->site_communicator);
	for (int i = 0; i < team->site_sizes[team->site]; i++) {
		if (team->index == from && i != from)
			messages_send(&messages, bytes, n, library.byte, 1, i);
	}
	if (team->index != from)
		messages_receive(&messages, bytes, n, library.byte, 1, from);
	return messages_close(&messages);
}

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
	struct share part = share_of(n, lane, lanes);
	struct share piece = share_of(part.n, i, model_senders(lanes));

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
	result = give(team, bytes, n, team->index_of[root]);
	if (i > 0 && i < model_senders(lanes) && !result)
		send_pieces(team, &messages, bytes, n, lanes, i);
	sent = messages_close(&messages);
	return result ? result : sent;
}

static int broadcast_elsewhere(const struct team *team, char *bytes, int n, int root, int lanes)
{
	struct messages messages = messages_open(team->own_communicator);
	struct parts parts = share(team, n, lanes);
	int result;

	for (int i = 0; team->index < lanes && i < model_senders(lanes); i++) {
		struct share piece = piece_of(n, team->index, lanes, i);

		messages_receive(&messages, bytes + piece.place, piece.n, library.byte, 1,
				 sender(team, root, i));
	}
	result = messages_close(&messages);
	if (!result)
		result = lanes > 1 ? spread(team, bytes, &parts, library.byte, 1)
				   : give(team, bytes, n, 0);
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
	packed = collectives_room(n);
	if (team->rank == root)
		LIBRARY_CALL(PACK, a[1], a[2], a[3], packed, n, &place, a[5]);
	result = broadcast(team, packed, n, root, lanes);
	place = 0;
	if (!result && team->rank != root)
		result = LIBRARY_CALL(UNPACK, packed, n, &place, a[1], a[2], a[3], a[5]);
	free(packed);
	return result;
}

/* ---- reductions ---- */

struct reduction {
	const char *from;
	int n, lanes;
	int64_t size; /* of an element */
	uint64_t type, operation;
	struct parts parts;
	char *part; /* this rank's part: of its site, then of all sites */
};

/* The order of the ranks changes, and elements are copied as bytes. */
static bool reducible(uint64_t count, uint64_t type, uint64_t operation)
{
	int commutes = 0;

	return !sites_reproducible && library_bytes(count, type) > 0 &&
	       library_type_is_dense(type) &&
	       LIBRARY_CALL(OP_COMMUTATIVE, operation, &commutes) == 0 && commutes;
}

/* Reduces 'n' parts, one after another in 'all', in their order; *to gets the result. */
static int combine(const struct reduction *r, char *all, int n, char *to)
{
	size_t bytes = r->parts.mine * r->size;
	int result = 0;

	for (int i = 1; i < n && !result && bytes; i++)
		result = LIBRARY_CALL(REDUCE_LOCAL, all + (i - 1) * bytes, all + i * bytes,
				      r->parts.mine, r->type, r->operation);
	memcpy(to, all + (n - 1) * bytes, bytes);
	return result;
}

/* Each rank of a small site gets what the others have of its part. */
static int scatter(struct reduction *r, const struct team *team)
{
	int size = team->site_sizes[team->site], result;
	size_t bytes = r->parts.mine * r->size;
	char *all = collectives_room(bytes * size);
	struct messages messages = messages_open(team->site_communicator);

	for (int i = 0; i < size; i++) {
		if (i == team->index)
			continue;
		if (bytes)
			messages_receive(&messages, all + i * bytes, r->parts.mine, r->type,
					 r->size, i);
		if (r->parts.counts[i])
			messages_send(&messages, r->from + r->parts.places[i] * r->size,
				      r->parts.counts[i], r->type, r->size, i);
	}
	memcpy(all + team->index * bytes, r->from + r->parts.place * r->size, bytes);
	result = messages_close(&messages);
	if (!result)
		result = combine(r, all, size, r->part);
	free(all);
	return result;
}

static int begin(struct reduction *r, const struct team *team)
{
	r->size = library_type_size(r->type);
	r->parts = share(team, r->n, r->lanes);
	r->part = collectives_room(r->parts.mine * r->size);
	if (is_small(team))
		return scatter(r, team);
	if (r->lanes > 1)
		return LIBRARY_CALL(REDUCE_SCATTER, r->from, r->part, r->parts.counts, r->type,
				    r->operation, team->site_communicator);
	return LIBRARY_CALL(REDUCE, r->from, r->part, r->n, r->type, r->operation, 0,
			    team->site_communicator);
}

static void end(struct reduction *reduction)
{
	free(reduction->parts.counts);
	free(reduction->part);
}

/*
 * Each rank in a lane gets the parts of its counterparts on the other sites, if it is to have the
 * result, and reduces them in the order of the sites, which is the same everywhere. Site 'only'
 * gets the result; < 0: all.
 */
static int exchange(struct reduction *r, const struct team *team, int only)
{
	size_t bytes = r->parts.mine * r->size;
	bool receives = only < 0 || only == team->site;
	char *all = collectives_room(receives ? bytes * team->n_sites : 1);
	struct messages messages = messages_open(team->own_communicator);
	int result;

	for (int site = 0; site < team->n_sites; site++) {
		int peer = sites_member(team, site, team->index);

		if (site != team->site && receives)
			messages_receive(&messages, all + site * bytes, r->parts.mine, r->type,
					 r->size, peer);
		if (site != team->site && (only < 0 || only == site))
			messages_send(&messages, r->part, r->parts.mine, r->type, r->size, peer);
	}
	result = messages_close(&messages);
	if (receives && !result) {
		memcpy(all + team->site * bytes, r->part, bytes);
		result = combine(r, all, team->n_sites, r->part);
	}
	free(all);
	return result;
}

int collectives_allreduce(const uint64_t *a)
{
	struct team *team = sites_team(a[6]);
	struct reduction r = { .n = a[3], .type = a[4], .operation = a[5] };
	char *to = (char *)a[2];
	int result;

	r.from = (const char *)(a[1] == library.in_place ? a[2] : a[1]);
	if (!team || !reducible(a[3], a[4], a[5]))
		return LIBRARY_S_WAY;
	r.lanes = model_lanes(team, ALLREDUCE_OF, library_bytes(a[3], a[4]));
	if (!r.lanes)
		return LIBRARY_S_WAY;
	result = begin(&r, team);
	if (!result && team->index < r.lanes)
		result = exchange(&r, team, -1);
	if (!result && team->index < r.lanes)
		memcpy(to + r.parts.place * r.size, r.part, r.parts.mine * r.size);
	if (!result)
		result = r.lanes > 1 ? spread(team, to, &r.parts, r.type, r.size)
				     : give(team, to, r.n * r.size, 0);
	end(&r);
	return result;
}

int collectives_reduce(const uint64_t *a)
{
	struct team *team = sites_team(a[7]);
	struct reduction r = { .n = a[3], .type = a[4], .operation = a[5] };
	int root = a[6], result;

	r.from = (const char *)(a[1] == library.in_place ? a[2] : a[1]);
	if (!team || root < 0 || root >= team->size || !reducible(a[3], a[4], a[5]))
		return LIBRARY_S_WAY;
	r.lanes = model_lanes(team, REDUCE_OF, library_bytes(a[3], a[4]));
	if (!r.lanes)
		return LIBRARY_S_WAY;
	result = begin(&r, team);
	if (!result && team->index < r.lanes)
		result = exchange(&r, team, team->site_of[root]);
	if (!result && team->site == team->site_of[root])
		result = LIBRARY_CALL(GATHERV, r.part, r.parts.mine, r.type, a[2], r.parts.counts,
				      r.parts.places, r.type, team->index_of[root],
				      team->site_communicator);
	end(&r);
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
	struct parts parts = { .counts = collectives_room(2 * size * sizeof(int)) };

	parts.places = parts.counts + size;
	for (int i = 0; i < size; i++) {
		parts.counts[i] = first[i + 1] - first[i];
		parts.places[i] = first[i] - first[0];
	}
	parts.mine = parts.counts[team->index];
	parts.place = parts.places[team->index];
	result = spread(team, block_of(team, blocks, team->site), &parts, library.byte, 1);
	free(parts.counts);
	return result;
}

/* Each site's block is in its ranks already; the lanes bring parts of it to the other sites. */
static int gather_sites(const struct team *team, const struct blocks *blocks, int lanes)
{
	struct messages messages = messages_open(team->own_communicator);
	struct parts own = share(team, block_bytes(team, blocks, team->site), lanes);
	int result;

	for (int site = 0; site < team->n_sites && team->index < lanes; site++) {
		int peer = sites_member(team, site, team->index);
		struct parts parts;

		if (site == team->site)
			continue;
		parts = share(team, block_bytes(team, blocks, site), lanes);
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
		parts = share(team, block_bytes(team, blocks, site), lanes);
		result = spread(team, block_of(team, blocks, site), &parts, library.byte, 1);
		free(parts.counts);
	}
	return result;
}

/* Where the elements of each rank go. */
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

/* Packs what this rank has: 'a' are the function's arguments, of which the first three say it. */
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
	struct blocks blocks = { .bytes = collectives_room(bytes),
				 .places = collectives_room((team->size + 1) * sizeof(int)) };

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
	numbers = collectives_room(2 * team->size * sizeof(int));
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
