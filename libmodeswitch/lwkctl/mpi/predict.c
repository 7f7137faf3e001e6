// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True for Xyz, Ixyz and Xyz_init, where 'name' is Xyz or the beginning of it. */
static bool is(const char *found, const char *name)
{
	if (*found == 'I' && (found[1] | 32) == (*name | 32))
		return strncmp(found + 2, name + 1, strlen(name) - 1) == 0;
	return strncmp(found, name, strlen(name)) == 0;
}

void predict_pattern(const struct profile_operation *operation,
		     void (*edge)(int a, int b, double bytes, int round, void *context),
		     void *context)
{
	const int *members = operation->members;
	int n = operation->size;
	/* Bytes that each rank gives to an operation, all operations together. */
	double each = n ? (double)operation->bytes / n : 0;
	bool tree = is(operation->name, "Bcast") || is(operation->name, "Reduce_l") ||
		    is(operation->name, "Gather") || is(operation->name, "Scatter") ||
		    strcmp(operation->name, "Reduce") == 0 ||
		    strcmp(operation->name, "Ireduce") == 0 ||
		    strcmp(operation->name, "Reduce_init") == 0;
	bool grows = is(operation->name, "Allgather");

	if (!members || is(operation->name, "Neighbor"))
		return;
	if (is(operation->name, "Alltoall")) {
		for (int a = 0; a < n; a++) {
			for (int b = a + 1; b < n; b++)
				edge(members[a], members[b], each / n, 0, context);
		}
		return;
	}
	for (int step = 1, round = 0; step < n; step *= 2, round++) {
		for (int a = 0; a < n; a++) {
			int b = tree ? a + step : a ^ step;

			if (b > a && b < n && (!tree || a < step))
				edge(members[a], members[b],
				     tree    ? each / 2
				     : grows ? each * step
					     : each,
				     round, context);
		}
	}
}

struct crossing {
	const int *site;
	double bytes;	 /* each way */
	uint64_t rounds; /* a bit for each round in which something crosses */
};

static void cross(int a, int b, double bytes, int round, void *context)
{
	struct crossing *crossing = context;

	if (crossing->site[a] == crossing->site[b])
		return;
	crossing->bytes += bytes;
	crossing->rounds |= 1ULL << round;
}

static const struct profile_edge *find_edge(const struct profile *profile, int from, int to)
{
	size_t first = 0, n = profile->n_edges;

	while (n) {
		const struct profile_edge *edge = &profile->edges[first + n / 2];

		if (edge->from == from && edge->to == to)
			return edge;
		if (edge->from < from || (edge->from == from && edge->to < to)) {
			first += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Messages between a rank and those on other sites. */
struct messages {
	uint64_t blocking, others; /* of pairs whose turns tell nothing */
	uint64_t leads, follows;
	double bytes[2]; /* to them, from them */
};

/*
 * Adds the messages between a rank and another, of which either edge may be NULL. A message waits for
 * the link where it is an answer, so turns count. In an exchange both ranks lead at the same time,
 * and the one that has more turns counts. In a dialogue one of them leads and the other one follows;
 * both count, a round trip.
 *
 * Turns are of a pair, so they tell nothing of a ring, in which the answer comes by way of other
 * ranks. Messages that go between two ranks one way only are a stream if all such messages between
 * their sites go that way ('stream'). Else each of them counts that its sender waits for, as it
 * does without turns.
 */
static void add_messages(struct messages *messages, const struct profile_edge *to,
			 const struct profile_edge *from, bool stream)
{
	uint64_t leads = most(to ? to->leads : 0, from ? from->leads : 0);
	uint64_t follows = most(to ? to->follows : 0, from ? from->follows : 0);
	bool one_way = !to || !to->n || !from || !from->n;

	if (leads + follows && (!one_way || stream)) {
		messages->leads += leads;
		messages->follows += follows;
	} else if (to) {
		messages->blocking += to->blocking;
		messages->others += to->n - least(to->blocking, to->n);
	}
}

/* True when messages between pairs of ranks that talk one way only cross one way only, too. */
static bool streams_only(const struct profile *profile, const int *site)
{
	bool found[2] = { false, false };

	for (size_t i = 0; i < profile->n_edges; i++) {
		const struct profile_edge *edge = &profile->edges[i], *back;

		if (!edge->n || site[edge->from] == site[edge->to])
			continue;
		back = find_edge(profile, edge->to, edge->from);
		if (!back || !back->n)
			found[site[edge->from] < site[edge->to]] = true;
	}
	return !found[0] || !found[1];
}

/* Messages of one direction. */
struct way {
	double bytes;
	double later;	 /* the bytes of messages after the first one of a turn */
	double weighted; /* 'later' of each edge, times the seconds of its streams */
	uint64_t hidden; /* meetings that turns which end this way hide */
};

/*
 * Adds the messages of an edge; 'back' is the edge the other way, or NULL. A rank that leads hides
 * meetings (see mpi/turns.c), but when both lead, as in an exchange, both come at the same time.
 */
static void add_way(struct way *way, const struct profile_edge *edge,
		    const struct profile_edge *back)
{
	uint64_t turns = edge->leads + edge->follows, other = back ? back->hidden : 0;
	double later = turns && turns < edge->n ? edge->bytes * (1 - (double)turns / edge->n) : 0;

	way->bytes += edge->bytes;
	way->later += later;
	way->weighted += later * edge->stream_seconds;
	way->hidden = most(way->hidden, edge->hidden - least(other, edge->hidden));
}

/*
 * The bytes of a direction that ranks wait for. Messages of a stream come while their receiver is
 * busy with those before, as fast as the link carries them; it waits for the first of them only.
 */
static double bytes_in_turn(const struct way *way, double bandwidth)
{
	double seconds = way->later > 0 ? way->weighted / way->later : 0;

	return way->bytes - fmin(way->later, seconds * bandwidth);
}

/*
 * The times that a rank waits for the link. Messages that it waits for together cross at the same
 * time.
 */
static uint64_t waits_of(const struct profile_rank *rank, const struct messages *messages)
{
	/* Nothing tells where unknown ranks are: they are far, if any is. */
	uint64_t unknown = messages->leads + messages->follows ? rank->unknown_turns : 0;

	return messages->blocking + least(messages->others, rank->waits) +
	       least(messages->leads, rank->receives) +
	       least(messages->follows + unknown, rank->receives);
}

/*
 * Bytes each way that the rank which waits most has to wait for. Ranks that have just met in a
 * collective operation send at the same time, and each waits for the bytes of all. Without such
 * meetings the link makes ranks wait for it one after the other, they drift apart, and after that
 * each finds the link free and waits for its own bytes.
 */
static double bytes_awaited(double own, double all, double meetings, uint64_t waits)
{
	return meetings < waits ? own + (all - own) * meetings / waits : all;
}

/* Adds the messages that cross: to those of each rank, and to the two ways of the link. */
static void add_edges(const struct profile *profile, const int *site, struct messages *messages,
		      struct way ways[2])
{
	bool stream = streams_only(profile, site);

	for (size_t i = 0; i < profile->n_edges; i++) {
		const struct profile_edge *edge = &profile->edges[i], *back;

		if (site[edge->from] == site[edge->to])
			continue;
		messages[edge->from].bytes[0] += edge->bytes;
		messages[edge->to].bytes[1] += edge->bytes;
		back = find_edge(profile, edge->to, edge->from);
		add_way(&ways[site[edge->from] < site[edge->to]], edge, back);
		add_messages(&messages[edge->from], edge, back, stream);
		if (!back)
			add_messages(&messages[edge->to], NULL, edge, stream);
	}
}

/* Collective operations that cross between sites. */
struct collectives {
	double bytes;	 /* each way */
	double meetings; /* operations that cross */
	double rounds;	 /* of all operations, in which something crosses */
};

static void add_operations(const struct profile *profile, const int *site,
			   struct collectives *collectives)
{
	for (size_t i = 0; i < profile->n_operations; i++) {
		struct crossing crossing = { .site = site };
		double n = profile->operations[i].n;

		predict_pattern(&profile->operations[i], cross, &crossing);
		collectives->bytes += crossing.bytes;
		if (crossing.rounds)
			collectives->meetings += n;
		collectives->rounds += n * __builtin_popcountll(crossing.rounds);
	}
}

/*
 * The messages' part is that of the rank that waits most. Chains of messages through several ranks
 * may be longer than any rank's waits, and a program that computes while its messages are on their
 * way hides their delay: neither is in a profile. Messages so large that the MPI library asks before
 * it sends them take two delays more. The link carries all bytes, so no time is shorter than that.
 */
int predict(const struct profile *profile, const int *site, const struct link *link,
	    struct prediction *prediction)
{
	/* Bytes one way, as a link carries as much one way while it carries the other. */
	double own = 0, all, awaited;
	struct way ways[2] = { 0 };
	struct messages *messages = calloc(profile->ranks, sizeof(*messages));
	struct collectives collectives = { 0 };
	uint64_t waits = 0, hidden;

	if (!messages)
		return -1;
	add_edges(profile, site, messages, ways);
	for (int rank = 0; rank < profile->ranks; rank++) {
		waits = most(waits, waits_of(&profile->rank[rank], &messages[rank]));
		own = fmax(own, fmax(messages[rank].bytes[0], messages[rank].bytes[1]));
	}
	free(messages);
	all = fmax(ways[0].bytes, ways[1].bytes);
	add_operations(profile, site, &collectives);
	hidden = most(ways[0].hidden, ways[1].hidden) - least(ways[0].hidden, ways[1].hidden);
	prediction->bytes = ways[0].bytes + ways[1].bytes + 2 * collectives.bytes;
	prediction->waits = waits + collectives.rounds - fmin(hidden, collectives.meetings);
	awaited = fmax(bytes_in_turn(&ways[0], link->bandwidth),
		       bytes_in_turn(&ways[1], link->bandwidth));
	own = bytes_awaited(fmin(own, awaited), awaited, collectives.meetings, waits);
	prediction->seconds = fmax((all + collectives.bytes) / link->bandwidth,
				   profile_seconds(profile) + prediction->waits * link->delay +
					   (own + collectives.bytes) / link->bandwidth);
	return 0;
}
