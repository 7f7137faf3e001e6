// SPDX-License-Identifier: GPL-2.0-or-later
/* Ranks of a profile are placed where their messages cost least. */
#include "unit/unit.h"

#include <math.h>

#include "base/clock.h"
#include "lwkctl/mpi/choice.h"
#include "lwkctl/mpi/hosts.h"
#include "lwkctl/mpi/place.h"
#include "unit/lwkctl/profiles.h"

static void random_weights(double *weights, int n, int kind)
{
	memset(weights, 0, (size_t)n * n * sizeof(*weights));
	for (int i = 0; i < n; i++) {
		for (int j = i + 1; j < n; j++) {
			double weight = random() % 100;

			if (kind == 1) /* few pairs talk */
				weight = random() % 4 == 0 ? weight : 0;
			else if (kind == 2) /* a ring whose ranks are dealt out */
				weight = (i * 5 + 1) % n == j || (j * 5 + 1) % n == i ? 100 : 0;
			weights[i * n + j] = weights[j * n + i] = weight;
		}
	}
}

/* The least cost of all placements of the ranks from 'rank' on. */
static double exhaust(const double *weights, int n, const struct place_node *nodes, size_t n_nodes,
		      int *node, int *used, int rank)
{
	double least = -1;

	if (rank == n)
		return place_cost(weights, n, nodes, node);
	for (size_t i = 0; i < n_nodes; i++) {
		double cost;

		if (used[i] == nodes[i].slots)
			continue;
		used[i]++;
		node[rank] = i;
		cost = exhaust(weights, n, nodes, n_nodes, node, used, rank + 1);
		used[i]--;
		if (least < 0 || cost < least)
			least = cost;
	}
	return least;
}

static void check_slots(const int *node, int n, const struct place_node *nodes, size_t n_nodes)
{
	for (size_t i = 0; i < n_nodes; i++) {
		int used = 0;

		for (int rank = 0; rank < n; rank++)
			used += node[rank] == (int)i;
		assert_true(used <= nodes[i].slots);
	}
}

static void small_placements(void **state)
{
	static const struct place_node machines[][4] = {
		{ { .slots = 4 }, { .slots = 4, .site = 1 } },
		{ { .slots = 5 }, { .slots = 3, .site = 1 } },
		{ { .slots = 2 },
		  { .slots = 2 },
		  { .slots = 2, .site = 1 },
		  { .slots = 2, .site = 1 } },
		{ { .slots = 3 }, { .slots = 3, .site = 1 }, { .slots = 2, .site = 2 } },
	};
	static const size_t n_nodes[] = { 2, 2, 4, 3 };
	double weights[64];
	int node[8], tried[8], used[4];

	for (unsigned try = 0; try < 40; try++) {
		const struct place_node *nodes = machines[try % 4];
		size_t n = n_nodes[try % 4];
		double best;

		random_weights(weights, 8, try % 3);
		memset(used, 0, sizeof(used));
		best = exhaust(weights, 8, nodes, n, tried, used, 0);
		assert_int_equal(place_ranks(weights, 8, nodes, n, node), 0);
		check_slots(node, 8, nodes, n);
		if (place_cost(weights, 8, nodes, node) > best * (1 + 1e-9))
			fail_msg("case %u: expected cost %f, found %f", try, best,
				 place_cost(weights, 8, nodes, node));
	}
}

/*
 * Within nodes Slurm deals ranks to NUMA nodes in their order. That level never makes a higher one
 * worse, the whole never worse than block, and seldom worse than the best of all.
 */
static void numa_placements(void **state)
{
	static const struct place_node machines[][3] = {
		{ { .slots = 4, .numa = 2 }, { .slots = 4, .numa = 2 } },
		{ { .slots = 4, .numa = 2 }, { .slots = 4, .numa = 2, .site = 1 } },
		{ { .slots = 8, .numa = 2 } },
		{ { .slots = 3, .numa = 2 }, { .slots = 3 }, { .slots = 2, .numa = 2, .site = 1 } },
	};
	static const size_t n_nodes[] = { 2, 2, 1, 3 };
	struct place_node flat[3];
	double weights[64];
	int node[8], without[8], block[8], tried[8], used[3], optimal = 0;

	for (unsigned try = 0; try < 60; try++) {
		const struct place_node *nodes = machines[try % 4];
		size_t n = n_nodes[try % 4];
		double best, found;

		random_weights(weights, 8, try % 3);
		memcpy(flat, nodes, sizeof(flat));
		for (size_t i = 0; i < n; i++)
			flat[i].numa = 1;
		memset(used, 0, sizeof(used));
		best = exhaust(weights, 8, nodes, n, tried, used, 0);
		assert_int_equal(place_ranks(weights, 8, nodes, n, node), 0);
		assert_int_equal(place_ranks(weights, 8, flat, n, without), 0);
		check_slots(node, 8, nodes, n);
		place_block(8, nodes, n, block);
		found = place_cost(weights, 8, nodes, node);
		assert_true(found <= place_cost(weights, 8, nodes, block) * (1 + 1e-12));
		assert_true(found <= place_cost(weights, 8, nodes, without) * (1 + 1e-12));
		assert_true(place_cost(weights, 8, flat, node) <=
			    place_cost(weights, 8, flat, without) * (1 + 1e-9));
		optimal += found <= best * (1 + 1e-9);
	}
	printf("NUMA nodes: %d of 60 placements are the best of all\n", optimal);
	assert_true(optimal >= 57);
}

/* Ranks that follow each other on a node are dealt apart; with one between them they are not. */
static void numa_choice(void **state)
{
	static const struct place_node nodes[] = { { .slots = 2, .numa = 2 },
						   { .slots = 3, .numa = 2 } };
	double weights[25] = { 0 };
	int node[5], block[5];

	/* No choice has 2 and 3 on one NUMA node: none stands between them. */
	weights[2 * 5 + 3] = weights[3 * 5 + 2] = 10;
	place_block(5, nodes, 2, block);
	assert_true(place_cost(weights, 5, nodes, block) == 10 * PLACE_NUMA_COST);
	assert_int_equal(place_ranks(weights, 5, nodes, 2, node), 0);
	assert_true(place_cost(weights, 5, nodes, node) == 10 * PLACE_NUMA_COST);
	/* 2 stands between 1 and 3, if it comes with them. */
	memset(weights, 0, sizeof(weights));
	weights[1 * 5 + 3] = weights[3 * 5 + 1] = 10;
	assert_int_equal(place_ranks(weights, 5, nodes, 2, node), 0);
	assert_true(place_cost(weights, 5, nodes, node) == 0);
	assert_int_equal(node[1], 1);
	assert_int_equal(node[2], 1);
	assert_int_equal(node[3], 1);
}

/* 1024 ranks on a grid, dealt out to 64 nodes of 4 sites cyclically: at most 5 seconds. */
static void large_placement(void **state)
{
	enum { N = 1024, SIDE = 32, NODES = 64 };
	double *weights = calloc((size_t)N * N, sizeof(double)), blocks, found;
	struct place_node nodes[NODES] = { 0 };
	static int node[N];
	int64_t start = clock_ms();

	assert_non_null(weights);
	for (int i = 0; i < N; i++) {
		int x = i % SIDE, y = i / SIDE, right = (x + 1) % SIDE + y * SIDE,
		    down = x + (y + 1) % SIDE * SIDE;
		/* 389 and 1024 have no common divisor: the ranks' numbers tell nothing. */
		int a = i * 389 % N, b = right * 389 % N, c = down * 389 % N;

		weights[a * N + b] = weights[b * N + a] = 1;
		weights[a * N + c] = weights[c * N + a] = 1;
	}
	for (int i = 0; i < NODES; i++)
		nodes[i] = (struct place_node){ .slots = N / NODES, .site = i / 16 };
	place_block(N, nodes, NODES, node);
	blocks = place_cost(weights, N, nodes, node);
	assert_int_equal(place_ranks(weights, N, nodes, NODES, node), 0);
	check_slots(node, N, nodes, NODES);
	found = place_cost(weights, N, nodes, node);
	printf("1024 ranks: %jd ms, %.0f of block's cost %.0f\n", (intmax_t)(clock_ms() - start),
	       found, blocks);
	assert_true(found < blocks / 4);
	free(weights);
}

struct heard {
	int n, small[4];
	double block[4], best[4];
};

static void hear_split(const struct choice *choice, const struct profile *profile, void *context)
{
	struct heard *heard = context;

	assert_true(heard->n < 4);
	assert_int_equal(choice->nodes[0].slots + choice->nodes[1].slots, profile->ranks);
	heard->small[heard->n] = choice->nodes[1].slots;
	heard->block[heard->n] = choice->at_block.bytes;
	heard->best[heard->n++] = choice->at_best.bytes;
}

static void all_splits(void **state)
{
	struct choice like = { .link = { .delay = 0.01, .bandwidth = 1e6 } };
	struct heard heard = { .n = 0 };
	struct profile profile;
	struct ms_error err;

	parse(&profile, ring);
	assert_int_equal(choice_each_split(&like, &profile, hear_split, &heard, &err), 0);
	assert_int_equal(heard.n, 2);
	assert_int_equal(heard.small[0], 1);
	assert_int_equal(heard.small[1], 2);
	/* Two neighbours in the ring, 10000 bytes each way, and an operation. */
	assert_true(heard.block[0] >= 40000 && heard.block[0] < 40500);
	/* Halves that are 0,1 and 2,3 cut the ring 0-2-1-3 four times; 0,2 and 1,3 twice. */
	assert_true(heard.block[1] >= 80000);
	assert_true(heard.best[1] < heard.block[1] / 1.9);
	profile_release(&profile);
}

static struct choice chosen;

static void nodes_of_slurm(void **state)
{
	static const char topology[] =
		"SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[01-02,10]\n"
		"SwitchName=s1 Level=0 LinkSpeed=1 Nodes=other,n[03-04]\n"
		"SwitchName=top Level=1 LinkSpeed=1 Nodes=n[01-10],other Switches=s[0-1]\n";
	static const char *const bad[] = { "n[1-", "n[2-1]", "n[x]",  "n[1-2",	 "n]1[",
					   ",",	   "n:0",    "n[1,]", "n[1-2]:x" };
	static const char *const bad_slots[] = {
		"", "1", "1,2,3", "2(x3)", "2(x", "2(x1),", "-1,2"
	};
	static const char *const order[] = { "n01", "n10", "n03", "n04" };

	assert_true(choice_nodes(&chosen, "n[03-04,01]:2,n10", "1(x2),2,3", 7));
	assert_int_equal(chosen.n_nodes, 4);
	hosts_sites(topology, chosen.nodes, chosen.n_nodes);
	for (int i = 0; i < 4; i++)
		assert_string_equal(chosen.nodes[i].name, order[i]);
	assert_int_equal(chosen.nodes[0].site, chosen.nodes[1].site);
	assert_int_equal(chosen.nodes[2].site, chosen.nodes[3].site);
	assert_true(chosen.nodes[1].site != chosen.nodes[2].site);
	assert_int_equal(chosen.nodes[0].slots + 10 * chosen.nodes[1].slots, 32);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(choice_nodes(&chosen, bad[i], NULL, 1));
	for (size_t i = 0; i < sizeof(bad_slots) / sizeof(*bad_slots); i++)
		assert_false(choice_nodes(&chosen, "a;b", bad_slots[i], 1));
	assert_false(choice_nodes(&chosen, "n[1-9999]", NULL, 1));
	assert_true(choice_nodes(&chosen, "a;b", "1,2", 3));
	assert_false(choice_nodes(&chosen, "a;b", "1,2", 4));
}

static double win(const char *text, const char *nodes)
{
	struct choice *choice = calloc(1, sizeof(*choice));
	struct profile profile;
	struct ms_error err;
	double found;

	assert_non_null(choice);
	parse(&profile, text);
	assert_true(choice_nodes(choice, nodes, NULL, profile.ranks));
	assert_int_equal(choice_make(choice, &profile, &err), 0);
	found = choice_win(choice);
	choice_release(choice);
	profile_release(&profile);
	return found;
}

static void what_is_to_win(void **state)
{
	static const char pairs[] = "{\"version\":1,\"ranks\":4,\"parts\":["
				    "{\"rank\":0,\"sent\":[[2,3,10,10000,10]]},"
				    "{\"rank\":1,\"sent\":[[3,3,10,10000,10]]}]}";
	double some = win(ring, "a:2;b:2");

	assert_true(isinf(win(pairs, "a:2;b:2")));
	assert_true(win(pairs, "a:4") == 1);
	assert_true(some > 1.5 && some < 2.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_placements), cmocka_unit_test(numa_placements),
		cmocka_unit_test(numa_choice),	    cmocka_unit_test(large_placement),
		cmocka_unit_test(all_splits),	    cmocka_unit_test(nodes_of_slurm),
		cmocka_unit_test(what_is_to_win),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
