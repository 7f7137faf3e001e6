// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/model.h"

#include <stdlib.h>

#include "mpi/library/library.h"

#define CLASSES 48 /* of sizes: powers of two */
/* So much must be gained before the library's own way is left. */
#define MARGIN 0.9
/* Between two sites in a broadcast: as many as do not fill a link's queues with their first bytes. */
#define CONNECTIONS_MAX 16
/* Only long messages have a use of a link whose delay hardly differs from that within a site. */
#define DELAYS 3
#define LONG 65536

enum { UNKNOWN, OWN, ONE_LANE, ALL_LANES };

int8_t *model_plans(void)
{
	return calloc(N_OPERATIONS * CLASSES, 1);
}

static int rounds_of(int n)
{
	return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

/* ---- what crosses ---- */

static double most_of(double a, double b)
{
	return a > b ? a : b;
}

/* The window with which a TCP connection begins (RFC 6928): 10 segments of 1448 bytes. */
#define FIRST_WINDOW 14480

/*
 * Seconds that a connection waits for answers before its window, which doubles with each, is as
 * large as its bytes or as what the path carries meanwhile.
 */
static double slow_start(double bytes)
{
	double answer = 2 * sites_across.delay, window = FIRST_WINDOW, sent = window, time = 0;
	double most = answer * most_of(sites_across.rate, sites_lanes.rate);

	while (sites_start_slowly && sent < bytes && window < most) {
		time += answer;
		window *= 2;
		sent += window;
	}
	return time;
}

/*
 * Seconds for the library's messages of so many bytes that cross at the same time, one way. The
 * library sends a long one after the receiver has answered, once, which the measured rate includes.
 */
static double across(double messages, double bytes)
{
	double wait = SITES_PROBE_BYTES / sites_across.rate -
		      SITES_PROBE_BYTES / most_of(sites_across.rate, sites_pieces.rate);
	double together = messages * bytes / most_of(sites_across.rate, sites_lanes.rate);

	if (bytes < LONG)
		return sites_across.delay + most_of(bytes / sites_across.rate, together);
	return sites_across.delay + wait +
	       most_of(bytes / most_of(sites_across.rate, sites_pieces.rate), together);
}

/* The seconds that our way takes to bring so many bytes across, over so many connections. */
static double in_lanes(double bytes, int connections)
{
	return sites_across.delay + slow_start(bytes / connections) +
	       bytes / (connections > 1 ? sites_lanes.rate : sites_pieces.rate);
}

static double inside(double messages, double bytes)
{
	return messages * sites_inside.delay + bytes / sites_inside.rate;
}

/* ---- the library's own algorithms ---- */

/*
 * A round in which rank a sends to rank b(a) as many bytes; -1: it does not. 'before' are the bytes
 * that the same ranks have sent each other in the rounds before.
 */
static double next_round(const struct team *team, int (*to)(int a, int step, int n), int step,
			 double bytes, double before)
{
	int crossing = 0;

	for (int a = 0; a < team->size; a++) {
		int b = to(a, step, team->size);

		crossing += b >= 0 && team->site_of[a] < team->site_of[b];
	}
	if (!crossing)
		return inside(1, bytes);
	return across(crossing, bytes) + slow_start(before + bytes) - slow_start(before);
}

static double round_seconds(const struct team *team, int (*to)(int a, int step, int n), int step,
			    double bytes)
{
	return next_round(team, to, step, bytes, 0);
}

static int partner(int a, int step, int n)
{
	return (a ^ step) < n ? a ^ step : -1;
}

static int child(int a, int step, int n)
{
	return a % (2 * step) == 0 && a + step < n ? a + step : -1;
}

static int around(int a, int step, int n)
{
	return (a + step) % n;
}

/*
 * Recursive doubling; the k-th round sends bytes * growth^k. Ranks beyond a power of two go first
 * and last.
 */
static double doubling(const struct team *team, double bytes, double growth)
{
	double time = 0;
	int step;

	for (step = 1; 2 * step <= team->size; step *= 2) {
		time += round_seconds(team, partner, step, bytes);
		bytes *= growth;
	}
	return step < team->size ? time + 2 * round_seconds(team, around, 1, bytes) : time;
}

static double tree(const struct team *team, double bytes)
{
	double time = 0;

	for (int step = 1; step < team->size; step *= 2)
		time += round_seconds(team, child, step, bytes);
	return time;
}

/* A tree to rank 0 in which each rank sends on what it has got. */
static double gathering_tree(const struct team *team, double bytes)
{
	double time = 0;

	for (int step = 1; step < team->size; step *= 2)
		time += round_seconds(team, child, step, step * bytes);
	return time;
}

/* All messages at once: those to rank 0, and those of each rank to each. */
static double to_first(const struct team *team, double bytes)
{
	return across(team->size - team->site_sizes[0], bytes) + slow_start(bytes);
}

/* The messages that leave the site that sends most. */
static int leaving(const struct team *team)
{
	int most = 0;

	for (int i = 0; i < team->n_sites; i++) {
		int n = team->site_sizes[i] * (team->size - team->site_sizes[i]);

		if (n > most)
			most = n;
	}
	return most;
}

static double pairwise(const struct team *team, double bytes)
{
	double time = 0;

	for (int step = 1; step < team->size; step++)
		time += round_seconds(team, around, step, bytes);
	return time;
}

static double ring(const struct team *team, double bytes)
{
	double time = 0;

	for (int round = 0; round < team->size - 1; round++)
		time += next_round(team, around, 1, bytes, round * bytes);
	return time;
}

/* Dissemination, and with growth Bruck's algorithm. */
static double dissemination(const struct team *team, double bytes, double growth)
{
	double time = 0;

	for (int step = 1; step < team->size; step *= 2) {
		time += round_seconds(team, around, step, bytes);
		bytes *= growth;
	}
	return time;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* The fastest of those that MPI libraries take for such a size. */
static double own_seconds(const struct team *team, enum operation operation, double n)
{
	double share = n / team->size;

	switch (operation) {
	case BARRIER_OF:
		return least(dissemination(team, 0, 1), doubling(team, 0, 1));
	case BCAST_OF:
		/* A pipeline along the ranks crosses as often as the ring does. */
		return least(tree(team, n), round_seconds(team, around, 1, n));
	case REDUCE_OF:
		return least(tree(team, n), round_seconds(team, around, 1, n));
	case ALLREDUCE_OF:
		if (n <= 2048)
			return doubling(team, n, 1);
		return least(least(doubling(team, n, 1), 2 * doubling(team, n / 2, 0.5)),
			     2 * ring(team, share));
	case ALLGATHER_OF:
		return least(least(doubling(team, share, 2), dissemination(team, share, 2)),
			     ring(team, share));
	case GATHER_OF:
		return library.mpich ? gathering_tree(team, share)
				     : least(gathering_tree(team, share), to_first(team, share));
	case GATHERV_OF:
		return to_first(team, share);
	case ALLTOALL_OF:
		if (library.mpich && share <= 256 && team->size >= 8)
			return dissemination(team, n / 2, 1);
		if (library.mpich && share > 32768)
			return pairwise(team, share);
		return across(leaving(team), share) + slow_start(share);
	case ALLTOALLV_OF:
		return across(leaving(team), share) + slow_start(share);
	default:
		return 0;
	}
}

/* ---- ours ---- */

/* The connections, at most so many, for each of n parts that cross at the same time. */
static int connections(int n, int most)
{
	int each = CONNECTIONS_MAX / n;

	if (!sites_start_slowly && !sites_always)
		return 1;
	return each < 1 ? 1 : each < most ? each : most;
}

int model_senders(int lanes)
{
	return connections(lanes, lanes);
}

int model_helpers(const struct team *team, int site)
{
	int size = team->site_sizes[site];

	return connections(team->size - size, size);
}

static double our_seconds(const struct team *team, enum operation operation, double n, int lanes)
{
	/* A site sends to each other one by itself. */
	int most = 0, hops, senders, helpers, others = team->n_sites - 1;
	double tree_inside, spread, cross;

	for (int i = 0; i < team->n_sites; i++) {
		if (team->site_sizes[i] > most)
			most = team->site_sizes[i];
	}
	hops = rounds_of(most);
	tree_inside = hops * inside(1, n);
	spread = inside(most, n);
	senders = model_senders(lanes);
	cross = in_lanes(others * n, lanes * senders) +
		(senders > 1 ? inside(senders, others * n / lanes) : 0);
	switch (operation) {
	case BARRIER_OF:
		return 2 * hops * inside(1, 0) + sites_across.delay;
	case BCAST_OF:
		return in_lanes(others * n, lanes * senders) + (lanes > 1 ? spread : tree_inside) +
		       (senders > 1 ? tree_inside : 0);
	case REDUCE_OF:
		return cross + (lanes > 1 ? 2 * spread : tree_inside);
	case ALLREDUCE_OF:
		return cross + (lanes > 1 ? 2 * spread : 2 * tree_inside);
	case ALLGATHER_OF:
		return 2 * spread + in_lanes(others * n * most / team->size, lanes);
	case GATHER_OF:
	case GATHERV_OF:
		senders = team->size - team->site_sizes[0];
		helpers = operation == GATHER_OF ? model_helpers(team, 0) : 1;
		cross = in_lanes(n * senders / team->size, lanes > 1 ? senders * helpers : 1);
		if (lanes == 1)
			return cross + hops * sites_inside.delay +
			       n * most / team->size / sites_inside.rate;
		return cross + inside(team->size, n);
	case ALLTOALL_OF:
	case ALLTOALLV_OF:
		return inside(team->size, n) +
		       in_lanes(leaving(team) * n / team->size, leaving(team));
	default:
		return 0;
	}
}

/* Each rank sends by itself what it alone has. */
static int all_lanes(const struct team *team, enum operation operation)
{
	return operation < GATHER_OF ? team->lanes : team->size;
}

static int8_t choose(const struct team *team, enum operation operation, double n)
{
	int lanes = all_lanes(team, operation);
	double own = own_seconds(team, operation, n);
	double one = our_seconds(team, operation, n, 1);
	double all = lanes > 1 ? our_seconds(team, operation, n, lanes) : one;

	if (sites_across.delay < DELAYS * sites_inside.delay && n < LONG)
		return OWN;
	if (least(one, all) >= own * MARGIN)
		return OWN;
	return all < one ? ALL_LANES : ONE_LANE;
}

int model_lanes(const struct team *team, enum operation operation, uint64_t bytes)
{
	int class;
	int8_t *plan;

	if (sites_always)
		return bytes % 3 ? all_lanes(team, operation) : 1;
	if (operation == GATHERV_OF || operation == ALLTOALLV_OF)
		bytes = (uint64_t)SITES_PROBE_BYTES * team->size;
	class = bytes ? 64 - __builtin_clzll(bytes) : 0;
	if (class >= CLASSES)
		class = CLASSES - 1;
	plan = &team->plans[operation * CLASSES + class];
	if (*plan == UNKNOWN)
		*plan = choose(team, operation, class ? 1ULL << (class - 1) : 0);
	return *plan == OWN ? 0 : *plan == ONE_LANE ? 1 : all_lanes(team, operation);
}
