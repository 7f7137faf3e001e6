// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/collectives.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/library.h"
#include "mpi/messages.h"
#include "mpi/model.h"
#include "mpi/sites.h"

#define LIBRARY_S_WAY (-1)

/*
 * MPI reports want of memory by an error, which by default ends all ranks; a rank alone cannot go
 * back.
 */
static void *room(size_t bytes)
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

/* Shares n elements out among the lanes, for the ranks of this rank's site. */
static struct parts share(const struct team *team, int n, int lanes)
{
	int size = team->site_sizes[team->site];
	struct parts parts = { .counts = room(2 * size * sizeof(int)) };
	int place = 0;

	parts.places = parts.counts + size;
	for (int i = 0; i < size; i++) {
		parts.counts[i] = i < lanes ? n / lanes + (i < n % lanes) : 0;
		parts.places[i] = place;
		place += parts.counts[i];
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

/* The root sends each site its parts, one to a lane; meanwhile its own site gets the bytes. */
static int broadcast(const struct team *team, char *bytes, int n, int root, int lanes)
{
	bool at_root = team->site == team->site_of[root];
	struct messages messages = messages_open(team->own_communicator);
	struct parts parts = share(team, n, lanes);
	int result = 0;

	if (team->rank == root) {
		for (int lane = 0, place = 0; lane < lanes; lane++) {
			int part = n / lanes + (lane < n % lanes);

			for (int site = 0; site < team->n_sites; site++) {
				if (site != team->site)
					messages_send(&messages, bytes + place, part, library.byte,
						      1, sites_member(team, site, lane));
			}
			place += part;
		}
	} else if (!at_root && team->index < lanes) {
		messages_receive(&messages, bytes + parts.place, parts.mine, library.byte, 1, root);
	}
	if (at_root)
		result = give(team, bytes, n, team->index_of[root]);
	if (!result)
		result = messages_close(&messages);
	if (!result && !at_root)
		result = lanes > 1 ? spread(team, bytes, &parts, library.byte, 1)
				   : give(team, bytes, n, 0);
	free(parts.counts);
	return result;
}

/* The bytes of 'count' of 'type', when this library's functions can number them; else -1. */
static int bytes_of(uint64_t count, uint64_t type)
{
	int64_t size = library_type_size(type), n = (int)count;

	return size < 0 || n < 0 || size * n > INT_MAX / 2 ? -1 : (int)(size * n);
}

int collectives_bcast(const uint64_t *a)
{
	struct team *team = sites_team(a[5]);
	int n = bytes_of(a[2], a[3]), root = a[4], lanes, place = 0, result;
	char *packed;

	if (!team || n <= 0 || root < 0 || root >= team->size)
		return LIBRARY_S_WAY;
	lanes = model_lanes(team, BCAST_OF, n);
	if (!lanes)
		return LIBRARY_S_WAY;
	/* Ranks may describe the same bytes by different types. */
	if (library_type_is_dense(a[3]))
		return broadcast(team, (char *)a[1], n, root, lanes);
	packed = room(n);
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

	return !sites_reproducible && bytes_of(count, type) > 0 && library_type_is_dense(type) &&
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
	char *all = room(bytes * size);
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
	r->part = room(r->parts.mine * r->size);
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
	char *all = room(receives ? bytes * team->n_sites : 1);
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
	r.lanes = model_lanes(team, ALLREDUCE_OF, bytes_of(a[3], a[4]));
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
	r.lanes = model_lanes(team, REDUCE_OF, bytes_of(a[3], a[4]));
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

/* ---- allgather ---- */

/*
 * 'blocks' has the sites' blocks one after another, of each site the bytes of its ranks in their
 * order. Each site's block is in its ranks already; the lanes bring parts of it to the other sites.
 */
static int gather_sites(const struct team *team, char *blocks, int each, int lanes)
{
	struct messages messages = messages_open(team->own_communicator);
	struct parts own = share(team, each * team->site_sizes[team->site], lanes);
	int result;

	for (int site = 0; site < team->n_sites && team->index < lanes; site++) {
		char *block = blocks + (size_t)each * team->firsts[site];
		int peer = sites_member(team, site, team->index);
		struct parts parts;

		if (site == team->site)
			continue;
		parts = share(team, each * team->site_sizes[site], lanes);
		messages_receive(&messages, block + parts.place, parts.mine, library.byte, 1, peer);
		free(parts.counts);
		block = blocks + (size_t)each * team->firsts[team->site];
		messages_send(&messages, block + own.place, own.mine, library.byte, 1, peer);
	}
	result = messages_close(&messages);
	free(own.counts);
	for (int site = 0; !result && site < team->n_sites; site++) {
		struct parts parts;

		if (site == team->site)
			continue;
		parts = share(team, each * team->site_sizes[site], lanes);
		result = spread(team, blocks + (size_t)each * team->firsts[site], &parts,
				library.byte, 1);
		free(parts.counts);
	}
	return result;
}

/* Moves the bytes of each rank from its place in the blocks to its place among the ranks. */
static void order(const struct team *team, const char *blocks, int each, char *to)
{
	for (int i = 0; i < team->size; i++)
		memcpy(to + (size_t)team->members[i] * each, blocks + (size_t)i * each, each);
}

int collectives_allgather(const uint64_t *a)
{
	struct team *team = sites_team(a[7]);
	int each = bytes_of(a[5], a[6]), lanes, place = 0, result = 0;
	bool dense = library_type_is_dense(a[6]);
	int64_t least, extent;
	char *own, *blocks, *to;

	if (!team || each <= 0 || each > INT_MAX / 2 / team->size)
		return LIBRARY_S_WAY;
	lanes = model_lanes(team, ALLGATHER_OF, (uint64_t)each * team->size);
	if (!lanes)
		return LIBRARY_S_WAY;
	own = room(each);
	blocks = room((size_t)each * team->size);
	to = dense ? (char *)a[4] : room((size_t)each * team->size);
	if (a[1] != library.in_place) {
		result = LIBRARY_CALL(PACK, a[1], a[2], a[3], own, each, &place, a[7]);
	} else {
		result = LIBRARY_CALL(TYPE_GET_EXTENT, a[6], &least, &extent);
		if (!result)
			result = LIBRARY_CALL(
				PACK, (char *)a[4] + team->rank * (int64_t)(int)a[5] * extent, a[5],
				a[6], own, each, &place, a[7]);
	}
	if (!result)
		result = LIBRARY_CALL(ALLGATHER, own, each, library.byte,
				      blocks + (size_t)team->firsts[team->site] * each, each,
				      library.byte, team->site_communicator);
	if (!result)
		result = gather_sites(team, blocks, each, lanes);
	if (!result)
		order(team, blocks, each, to);
	place = 0;
	if (!dense) {
		if (!result)
			result = LIBRARY_CALL(UNPACK, to, each * team->size, &place, a[4],
					      (int)a[5] * team->size, a[6], a[7]);
		free(to);
	}
	free(own);
	free(blocks);
	return result;
}
