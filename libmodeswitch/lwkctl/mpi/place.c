// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/place.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A choice that is being made: the ranks of 'side' false go to the left, the others to the right.
 */
struct cut {
	const double *weights;
	int n;		  /* of all ranks: a row of 'weights' */
	const int *ranks; /* those that are divided */
	int count;
	bool *side;
	double *gain; /* of a rank that changes sides: what it sends across less what it does not */
	bool *locked;
	int *first, *second; /* the ranks that a pass has swapped, in order */
};

static double weight(const struct cut *cut, int i, int j)
{
	return cut->weights[(size_t)cut->ranks[i] * cut->n + cut->ranks[j]];
}

static void set_gains(struct cut *cut)
{
	for (int i = 0; i < cut->count; i++) {
		cut->gain[i] = 0;
		for (int j = 0; j < cut->count; j++)
			cut->gain[i] += cut->side[i] == cut->side[j] ? -weight(cut, i, j)
								     : weight(cut, i, j);
		cut->locked[i] = false;
	}
}

/* The best pair to swap among the few ranks of each side that gain most; false: none is left. */
static bool best_pair(const struct cut *cut, int *a, int *b, double *best)
{
	enum { FEW = 8 };
	int top[2][FEW], n[2] = { 0, 0 };
	bool found = false;

	for (int i = 0; i < cut->count; i++) {
		int side = cut->side[i], at;

		if (cut->locked[i])
			continue;
		if (n[side] == FEW && cut->gain[i] <= cut->gain[top[side][FEW - 1]])
			continue;
		at = n[side] < FEW ? n[side]++ : FEW - 1;
		for (; at > 0 && cut->gain[top[side][at - 1]] < cut->gain[i]; at--)
			top[side][at] = top[side][at - 1];
		top[side][at] = i;
	}
	for (int i = 0; i < n[0]; i++) {
		for (int j = 0; j < n[1]; j++) {
			int x = top[0][i], y = top[1][j];
			double gain = cut->gain[x] + cut->gain[y] - 2 * weight(cut, x, y);

			if (found && gain <= *best)
				continue;
			found = true;
			*best = gain;
			*a = x;
			*b = y;
		}
	}
	return found;
}

static void swap(struct cut *cut, int a, int b)
{
	for (int i = 0; i < cut->count; i++) {
		double change = 2 * (weight(cut, i, a) - weight(cut, i, b));

		if (i != a && i != b)
			cut->gain[i] += cut->side[i] == cut->side[a] ? change : -change;
	}
	cut->side[a] = !cut->side[a];
	cut->side[b] = !cut->side[b];
	cut->locked[a] = cut->locked[b] = true;
}

/* One pass of Kernighan and Lin: swaps all pairs, keeps the best beginning of that. */
static bool improve(struct cut *cut)
{
	double sum = 0, best = 0, gain;
	int n = 0, keep = 0, a, b;

	set_gains(cut);
	while (best_pair(cut, &a, &b, &gain)) {
		swap(cut, a, b);
		cut->first[n] = a;
		cut->second[n++] = b;
		sum += gain;
		if (sum > best * (1 + 1e-12) + 1e-9) {
			best = sum;
			keep = n;
		}
	}
	for (int i = keep; i < n; i++) {
		cut->side[cut->first[i]] = !cut->side[cut->first[i]];
		cut->side[cut->second[i]] = !cut->side[cut->second[i]];
	}
	return keep > 0;
}

/* Returns the same numbers in each run, so that a profile always gives the same placement. */
static uint32_t random_number(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

struct placing {
	const double *weights;
	int n;
	const struct place_node *nodes;
	size_t n_nodes;
	struct cut cut; /* its arrays */
	int *ranks, *scratch;
	int *node;
	uint64_t random;
};

static int slots(const struct place_node *nodes, size_t n)
{
	int sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += nodes[i].slots;
	return sum;
}

/*
 * The place at which to divide a row of nodes in two: between sites if there are any, in the middle
 * if not.
 */
static size_t middle(const struct place_node *nodes, size_t n)
{
	int half = slots(nodes, n) / 2, sum = 0, distance = -1;
	bool sites = nodes[0].site != nodes[n - 1].site;
	size_t best = 1;

	for (size_t i = 1; i < n; i++) {
		sum += nodes[i - 1].slots;
		if (sites && nodes[i].site == nodes[i - 1].site)
			continue;
		if (distance < 0 || abs(sum - half) < distance) {
			distance = abs(sum - half);
			best = i;
		}
	}
	return best;
}

/* Divides ranks[0..count) among the nodes; at most their slots. 'shuffle': from a random start. */
static void divide(struct placing *placing, size_t first, size_t n_nodes, int *ranks, int count,
		   bool shuffle)
{
	const struct place_node *nodes = placing->nodes + first;
	struct cut *cut = &placing->cut;
	int left, at = 0;
	size_t half;

	if (n_nodes == 1 || count == 0) {
		for (int i = 0; i < count; i++)
			placing->node[ranks[i]] = first;
		return;
	}
	half = middle(nodes, n_nodes);
	left = slots(nodes, half);
	if (left > count)
		left = count;
	for (int i = count - 1; shuffle && i > 0; i--) {
		int j = random_number(&placing->random) % (i + 1), rank = ranks[i];

		ranks[i] = ranks[j];
		ranks[j] = rank;
	}
	cut->ranks = ranks;
	cut->count = count;
	for (int i = 0; i < count; i++)
		cut->side[i] = i >= left;
	for (int pass = 0; pass < 20 && improve(cut); pass++)
		;
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < count; i++) {
			if (cut->side[i] == side)
				placing->scratch[at++] = ranks[i];
		}
	}
	memcpy(ranks, placing->scratch, count * sizeof(int));
	divide(placing, first, half, ranks, left, shuffle);
	divide(placing, first + half, n_nodes - half, ranks + left, count - left, shuffle);
}

static double distance(const struct place_node *a, const struct place_node *b)
{
	return a == b ? 0 : a->site == b->site ? 1 : PLACE_SITE_COST;
}

/* The cost between two ranks of one node, the second one so many places behind the first. */
static double distance_inside(const struct place_node *node, int places)
{
	return node->numa > 1 && places % node->numa ? PLACE_NUMA_COST : 0;
}

double place_cost(const double *weights, int n, const struct place_node *nodes, const int *node)
{
	double cost = 0;

	for (int i = 0; i < n; i++) {
		int places = 0;

		for (int j = i + 1; j < n; j++) {
			double weight = weights[(size_t)i * n + j];

			if (node[i] == node[j])
				cost += weight * distance_inside(&nodes[node[i]], ++places);
			else
				cost += weight * distance(&nodes[node[i]], &nodes[node[j]]);
		}
	}
	return cost;
}

/* The cost of rank i on the node, if all others stay and 'without' sends nothing. */
static double cost_on(const struct placing *placing, int i, int node, int without)
{
	const double *row = placing->weights + (size_t)i * placing->n;
	double cost = 0;

	for (int j = 0; j < placing->n; j++) {
		if (row[j] != 0 && j != without)
			cost += row[j] *
				distance(&placing->nodes[node], &placing->nodes[placing->node[j]]);
	}
	return cost;
}

/* Swaps two ranks of different nodes wherever that is cheaper, for at most ten rounds. */
static void polish(struct placing *placing)
{
	bool changed = true;

	for (int sweep = 0; changed && sweep < 10; sweep++) {
		changed = false;
		for (int i = 0; i < placing->n; i++) {
			for (int j = i + 1; j < placing->n; j++) {
				int a = placing->node[i], b = placing->node[j];
				double now, then;

				if (a == b)
					continue;
				now = cost_on(placing, i, a, j) + cost_on(placing, j, b, i);
				then = cost_on(placing, i, b, j) + cost_on(placing, j, a, i);
				if (then >= now * (1 - 1e-12))
					continue;
				placing->node[i] = b;
				placing->node[j] = a;
				changed = true;
			}
		}
	}
}

void place_block(int n, const struct place_node *nodes, size_t n_nodes, int *node)
{
	int rank = 0;

	for (size_t i = 0; i < n_nodes; i++) {
		for (int slot = 0; slot < nodes[i].slots && rank < n; slot++)
			node[rank++] = i;
	}
}

/* Swapping costs n³: only small programs are polished, and tried from many starts. */
#define POLISHED_RANKS 128

/* Places the ranks at random. */
static void scatter(struct placing *placing)
{
	place_block(placing->n, placing->nodes, placing->n_nodes, placing->scratch);
	for (int i = placing->n - 1; i >= 0; i--) {
		int j = random_number(&placing->random) % (i + 1);

		placing->node[i] = placing->scratch[j];
		placing->scratch[j] = placing->scratch[i];
	}
}

static void exchange(int *node, int i, int j)
{
	int of_i = node[i];

	node[i] = node[j];
	node[j] = of_i;
}

/*
 * Swaps ranks of different nodes wherever that is cheaper with the NUMA nodes counted, too: a swap
 * moves the ranks of both nodes between the two of them to other NUMA nodes.
 */
static void polish_inside(const struct placing *placing, int *node)
{
	int n = placing->n;
	double least = place_cost(placing->weights, n, placing->nodes, node);
	bool changed = true;

	for (int sweep = 0; changed && sweep < 10; sweep++) {
		changed = false;
		for (int pair = 0; pair < n * n; pair++) {
			int i = pair / n, j = pair % n;
			double cost;

			if (j <= i || node[i] == node[j])
				continue;
			exchange(node, i, j);
			cost = place_cost(placing->weights, n, placing->nodes, node);
			if (cost < least * (1 - 1e-12)) {
				least = cost;
				changed = true;
			} else {
				exchange(node, i, j);
			}
		}
	}
}

static bool has_numa(const struct placing *placing)
{
	for (size_t i = 0; i < placing->n_nodes; i++) {
		if (placing->nodes[i].numa > 1)
			return true;
	}
	return false;
}

static void search(struct placing *placing, int *best)
{
	int n = placing->n, tries = n <= 16 ? 400 : n <= 32 ? 64 : n <= POLISHED_RANKS ? 8 : 2;
	double least;

	place_block(n, placing->nodes, placing->n_nodes, best);
	least = place_cost(placing->weights, n, placing->nodes, best);
	for (int try = -1; try < tries; try++) {
		double cost;

		for (int i = 0; i < n; i++)
			placing->ranks[i] = i;
		/* The first try starts from the block distribution. */
		if (try < 0)
			memcpy(placing->node, best, n * sizeof(int));
		else if (try % 2 && n <= POLISHED_RANKS)
			scatter(placing);
		else
			divide(placing, 0, placing->n_nodes, placing->ranks, n, try > 0);
		if (n <= POLISHED_RANKS)
			polish(placing);
		cost = place_cost(placing->weights, n, placing->nodes, placing->node);
		if (cost >= least * (1 - 1e-12))
			continue;
		least = cost;
		memcpy(best, placing->node, n * sizeof(int));
	}
	if (n <= POLISHED_RANKS && has_numa(placing))
		polish_inside(placing, best);
}

int place_ranks(const double *weights, int n, const struct place_node *nodes, size_t n_nodes,
		int *node)
{
	struct placing placing = {
		.weights = weights,
		.n = n,
		.nodes = nodes,
		.n_nodes = n_nodes,
		.cut = { .weights = weights,
			 .n = n,
			 .side = calloc(n, sizeof(bool)),
			 .gain = calloc(n, sizeof(double)),
			 .locked = calloc(n, sizeof(bool)),
			 .first = calloc(n, sizeof(int)),
			 .second = calloc(n, sizeof(int)) },
		.ranks = calloc(n, sizeof(int)),
		.scratch = calloc(n, sizeof(int)),
		.node = calloc(n, sizeof(int)),
	};
	int ret = -1;

	if (placing.cut.side && placing.cut.gain && placing.cut.locked && placing.cut.first &&
	    placing.cut.second && placing.ranks && placing.scratch && placing.node) {
		search(&placing, node);
		ret = 0;
	}
	free(placing.cut.side);
	free(placing.cut.gain);
	free(placing.cut.locked);
	free(placing.cut.first);
	free(placing.cut.second);
	free(placing.ranks);
	free(placing.scratch);
	free(placing.node);
	return ret;
}
