// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/reductions.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/library/library.h"
#include "mpi/sites/collectives.h"
#include "mpi/sites/messages.h"
#include "mpi/sites/model.h"
#include "mpi/sites/parts.h"
#include "mpi/sites/sites.h"

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

/* Reduces 'n' parts, which lie one after another in 'all', in their order; *to gets the result. */
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
	char *all = messages_room(bytes * size);
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
	r->parts = parts_share(team, r->n, r->lanes);
	r->part = messages_room(r->parts.mine * r->size);
	if (parts_at_once(team))
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
 * The exchange of parts between sites. A lane's part crosses in pieces, the k-th one from rank i to
 * rank i + k of the other site's lanes, so over a connection of its own; model_senders() says how many
 * pieces. That rank passes the piece on to rank i, whose part it is.
 */
struct exchange {
	struct reduction *r;
	const struct team *team;
	int pieces;
	bool receives;
	char *all;    /* a part of each site */
	char *passed; /* pieces of other ranks, one after another */
};

static int after(const struct exchange *x, int k)
{
	return (x->team->index + k) % x->r->lanes;
}

static int before(const struct exchange *x, int k)
{
	return (x->team->index - k + x->r->lanes) % x->r->lanes;
}

static struct share piece_of(const struct exchange *x, int index, int k)
{
	return parts_one(x->r->parts.counts[index], k, x->pieces);
}

/* The rank that the k-th piece of this rank's part of a site goes to. */
static char *own_piece(const struct exchange *x, int site, int k)
{
	const struct reduction *r = x->r;

	return x->all +
	       ((int64_t)site * r->parts.mine + piece_of(x, x->team->index, k).place) * r->size;
}

/* Sends the pieces of this rank's part across, and receives what crosses to this rank. */
static int cross(const struct exchange *x, int only)
{
	const struct reduction *r = x->r;
	const struct team *team = x->team;
	struct messages messages = messages_open(team->own_communicator);
	char *passed = x->passed;

	for (int site = 0; site < team->n_sites; site++) {
		for (int k = 0; k < x->pieces && site != team->site; k++) {
			struct share out = piece_of(x, team->index, k);
			struct share in = piece_of(x, before(x, k), k);

			if (x->receives) {
				messages_receive(&messages, k ? passed : own_piece(x, site, 0),
						 in.n, r->type, r->size,
						 sites_member(team, site, before(x, k)));
				passed += k ? in.n * r->size : 0;
			}
			if (only < 0 || only == site)
				messages_send(&messages, r->part + out.place * r->size, out.n,
					      r->type, r->size,
					      sites_member(team, site, after(x, k)));
		}
	}
	return messages_close(&messages);
}

/* Gives the pieces that crossed to the ranks whose parts they are of. */
static int pass_on(const struct exchange *x)
{
	const struct reduction *r = x->r;
	const struct team *team = x->team;
	struct messages messages = messages_open(team->site_communicator);
	const char *passed = x->passed;

	for (int site = 0; site < team->n_sites; site++) {
		for (int k = 1; k < x->pieces && site != team->site; k++) {
			struct share mine = piece_of(x, team->index, k);
			struct share theirs = piece_of(x, before(x, k), k);

			messages_receive(&messages, own_piece(x, site, k), mine.n, r->type, r->size,
					 after(x, k));
			messages_send(&messages, passed, theirs.n, r->type, r->size, before(x, k));
			passed += theirs.n * r->size;
		}
	}
	return messages_close(&messages);
}

/*
 * Each rank in a lane gets the parts of its counterparts on the other sites, if it is to have the
 * result, and reduces them in the order of the sites, which is the same everywhere. Site 'only'
 * gets the result; < 0: all.
 */
static int exchange(struct reduction *r, const struct team *team, int only)
{
	size_t bytes = r->parts.mine * r->size;
	struct exchange x = { .r = r,
			      .team = team,
			      .pieces = model_senders(r->lanes),
			      .receives = only < 0 || only == team->site };
	int result;

	/* The first rank's part is the largest. */
	x.all = messages_room(x.receives ? bytes * team->n_sites : 1);
	x.passed = messages_room(x.receives ? r->parts.counts[0] * r->size * team->n_sites : 1);
	result = cross(&x, only);
	if (x.receives && x.pieces > 1 && !result)
		result = pass_on(&x);
	if (x.receives && !result) {
		memcpy(x.all + team->site * bytes, r->part, bytes);
		result = combine(r, x.all, team->n_sites, r->part);
	}
	free(x.passed);
	free(x.all);
	return result;
}

int reductions_allreduce(const uint64_t *a)
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
		result = r.lanes > 1 ? parts_spread(team, to, &r.parts, r.type, r.size)
				     : parts_give(team, to, r.n * r.size, 0);
	end(&r);
	return result;
}

int reductions_reduce(const uint64_t *a)
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
