// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/predict.h"

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

void predict(const struct profile *profile, const int *site, const struct link *link,
	     struct prediction *prediction)
{
	double most = 0, operations = 0, ways[2] = { 0, 0 };
	size_t i = 0;

	for (int rank = 0; rank < profile->ranks; rank++) {
		uint64_t blocking = 0, others = 0;

		for (; i < profile->n_edges && profile->edges[i].from == rank; i++) {
			const struct profile_edge *edge = &profile->edges[i];

			if (site[rank] == site[edge->to])
				continue;
			ways[site[rank] < site[edge->to]] += edge->bytes;
			blocking += edge->blocking;
			others += edge->n - (edge->blocking < edge->n ? edge->blocking : edge->n);
		}
		/* Messages that are waited for together cross at the same time. */
		if (others > profile->rank[rank].waits)
			others = profile->rank[rank].waits;
		if (blocking + others > most)
			most = blocking + others;
	}
	for (i = 0; i < profile->n_operations; i++) {
		struct crossing crossing = { .site = site };

		predict_pattern(&profile->operations[i], cross, &crossing);
		ways[0] += crossing.bytes;
		ways[1] += crossing.bytes;
		operations +=
			(double)profile->operations[i].n * __builtin_popcountll(crossing.rounds);
	}
	prediction->bytes = ways[0] + ways[1];
	prediction->waits = most + operations;
	/* A link carries as much one way while it carries the other. */
	prediction->seconds = profile_seconds(profile) + prediction->waits * link->delay +
			      (ways[0] > ways[1] ? ways[0] : ways[1]) / link->bandwidth;
}
