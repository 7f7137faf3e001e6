// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles of MPI programs: reading, predicting, placing. */
#include "unit/unit.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "lwkctl/mpi/choice.h"
#include "lwkctl/mpi/heat.h"
#include "lwkctl/mpi/hosts.h"
#include "lwkctl/mpi/place.h"
#include "lwkctl/mpi/predict.h"
#include "lwkctl/mpi/profile.h"
#include "lwkctl/mpi/save.h"

/* Four ranks in a ring 0-2-1-3: 10 blocking messages of 1000 bytes to each neighbour. */
static const char ring[] =
	"{\"version\":1,\"job\":\"5.0\",\"ranks\":4,\"parts\":[\n"
	"{\"rank\":0,\"seconds\":2,\"mpi_seconds\":1,\"calls\":[[\"Send\",20,0.5]],"
	"\"groups\":[{\"id\":\"a\",\"size\":4,\"first\":0,\"stride\":1}],"
	"\"collectives\":[[\"Allreduce\",0,1,5,40,0.1]],"
	"\"sent\":[[2,3,4,4000,4],[2,2,6,6000,6],[3,3,10,10000,10]]},\n"
	"{\"rank\":1,\"seconds\":3,\"calls\":[[\"Send\",20,0.75]],\"sent\":[[2,3,10,10000,10],"
	"[3,3,10,10000,10],[-1,0,3,0,0]],\"fetched\":[[0,1,1,64,0]]},\n"
	"{\"rank\":2,\"sent\":[[0,3,10,10000,10],[1,3,10,10000,10]]},\n"
	"{\"rank\":3,\"sent\":[[0,3,10,10000,10],[1,3,10,10000,10]]}]}";

static void parse(struct profile *profile, const char *text)
{
	struct ms_error err;

	if (profile_parse(text, strlen(text), "test", profile, &err) < 0)
		fail_msg("%s", err.text);
}

static void reading(void **state)
{
	struct profile profile;

	parse(&profile, ring);
	assert_int_equal(profile.ranks, 4);
	assert_int_equal(profile.present, 4);
	assert_int_equal(profile.n_edges, 9);
	/* The sender of fetched bytes is their owner. */
	assert_int_equal(profile.edges[0].from, 0);
	assert_int_equal(profile.edges[0].to, 1);
	assert_int_equal(profile.edges[0].bytes, 64);
	/* All size classes of a pair are one edge. */
	assert_int_equal(profile.edges[1].to, 2);
	assert_int_equal(profile.edges[1].n, 10);
	assert_int_equal(profile.edges[1].bytes, 10000);
	assert_int_equal(profile.unknown_peers, 3);
	assert_int_equal(profile.n_functions, 1);
	assert_int_equal(profile.functions[0].n, 40);
	assert_true(profile.functions[0].most == 0.75);
	assert_true(profile_seconds(&profile) == 3);
	assert_int_equal(profile.n_operations, 1);
	assert_int_equal(profile.operations[0].size, 4);
	assert_int_equal(profile.operations[0].members[3], 3);
	profile_release(&profile);
}

static void garbage(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"version\":2,\"ranks\":1,\"parts\":[{}]}",
		"{\"version\":1,\"ranks\":-1,\"parts\":[{}]}",
		"{\"version\":1,\"ranks\":99999999,\"parts\":[{}]}",
		"{\"version\":1,\"ranks\":2,\"parts\":3}",
		"{\"version\":1,\"ranks\":2,\"parts\":[{\"rank\":",
	};
	struct profile profile;
	struct ms_error err;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(profile_parse(texts[i], strlen(texts[i]), "file", &profile, &err),
				 -1);
		assert_has(err.text, "file: expected");
	}
	/* Members that are something else do no harm. */
	parse(&profile,
	      "{\"version\":1,\"ranks\":2,\"parts\":[7,{},{\"rank\":9},{\"rank\":0,\"sent\":"
	      "[3,[],[5,1,1,1,1],[1,\"x\",-4,1e300,[]],[-7]],\"groups\":[{\"id\":\"b\",\"size\":2,"
	      "\"first\":1,\"stride\":4000000000},{\"id\":\"c\",\"size\":2,"
	      "\"first\":1,\"stride\":9223372036854775807},"
	      "{\"id\":[],\"size\":-2}],"
	      "\"collectives\":"
	      "[[\"Bcast\",77,-1,2],[],[\"Bcast\",0,9,1,1,-1]],\"calls\":{}},{\"rank\":0}]}");
	assert_int_equal(profile.present, 1);
	profile_release(&profile);
}

/* Every prefix of a profile and every changed letter is read or refused, and nothing crashes. */
static void damaged(void **state)
{
	size_t length = strlen(ring);
	char *text = strdup(ring);
	struct profile profile;
	struct ms_error err;

	for (size_t i = 0; i < length; i++) {
		char letter = text[i];

		if (profile_parse(text, i, "file", &profile, &err) == 0)
			profile_release(&profile);
		text[i] = "9-]{\"x,"[i % 7];
		if (profile_parse(text, length, "file", &profile, &err) == 0)
			profile_release(&profile);
		text[i] = letter;
	}
	free(text);
}

/* Reads a profile of n groups and n functions; returns the CPU time in ticks. */
static double time_to_read(int n)
{
	struct profile profile;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	clock_t start;

	assert_non_null(out);
	fputs("{\"version\":1,\"ranks\":1,\"parts\":[{\"rank\":0,\"groups\":[", out);
	for (int i = 0; i < n; i++)
		fprintf(out, "{\"id\":\"%d\"},", i);
	fputs("{}],\"calls\":[", out);
	for (int i = 0; i < n; i++)
		fprintf(out, "[\"%d\",1,1],", i);
	fputs("[]]}]}", out);
	fclose(out);
	start = clock();
	parse(&profile, text);
	assert_int_equal(profile.n_functions, n + 1);
	profile_release(&profile);
	free(text);
	return clock() - start;
}

/* A user cannot have root compute for hours: four times the names take four times as long. */
static void many_names(void **state)
{
	double one = time_to_read(10000);

	assert_true(time_to_read(40000) < 10 * one);
}

static void predicting(void **state)
{
	const struct link link = { .delay = 0.01, .bandwidth = 1e6 };
	const int whole[] = { 0, 0, 0, 0 }, halves[] = { 0, 0, 1, 1 };
	struct prediction prediction;
	struct profile profile;

	parse(&profile, ring);
	predict(&profile, whole, &link, &prediction);
	assert_true(prediction.seconds == 3 && prediction.bytes == 0 && prediction.waits == 0);
	predict(&profile, halves, &link, &prediction);
	/* All messages cross; the allreduce crosses in its second round, 5 times, two pairs. */
	assert_true(prediction.bytes == 80000 + 2 * 2 * 10);
	assert_true(prediction.waits == 20 + 5);
	/* 40000 bytes go each way, 20000 of one rank, and ranks meet at a quarter of its waits. */
	assert_true(prediction.seconds > 3.275 && prediction.seconds < 3.2751);
	profile_release(&profile);
}

/* Two pairs of ranks exchange 200000 bytes each over the link, in ten messages each way. */
static void meetings(void **state)
{
	static const struct {
		const char *collectives;
		double seconds;
	} cases[] = {
		/* Ranks drift apart, and a pair waits for its own bytes. */
		{ "", 1.2 },
		/* Ranks meet before each exchange, and wait for the bytes of both pairs. */
		{ "[\"Barrier\",0,1,10,0,0.1]", 1.4 },
		{ "[\"Barrier\",0,1,50,0,0.1]", 1.4 },
		{ "[\"Barrier\",0,1,5,0,0.1]", 1.3 },
	};
	static const int sites[] = { 0, 0, 1, 1 };
	const struct link link = { .delay = 0, .bandwidth = 1e6 };
	struct prediction prediction;
	struct profile profile;
	char text[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text),
			 "{\"version\":1,\"ranks\":4,\"parts\":[{\"rank\":0,\"seconds\":1,"
			 "\"calls\":[[\"Wait\",10,0]],"
			 "\"groups\":[{\"id\":\"a\",\"size\":4,\"first\":0,\"stride\":1}],"
			 "\"collectives\":[%s],"
			 "\"sent\":[[2,20,10,200000,0]],\"turns\":[[2,10,0]]},"
			 "{\"rank\":1,\"sent\":[[3,20,10,200000,0]]},"
			 "{\"rank\":2,\"sent\":[[0,20,10,200000,0]]},"
			 "{\"rank\":3,\"sent\":[[1,20,10,200000,0]]}]}",
			 cases[i].collectives);
		parse(&profile, text);
		assert_int_equal(predict(&profile, sites, &link, &prediction), 0);
		if (fabs(prediction.seconds - cases[i].seconds) > 1e-9)
			fail_msg("case %zu: expected %f s, found %f", i, cases[i].seconds,
				 prediction.seconds);
		/* No program is faster than the link, however short its run was. */
		profile.rank[0].seconds = 0;
		assert_int_equal(predict(&profile, sites, &link, &prediction), 0);
		assert_true(prediction.seconds >= 0.4);
		profile_release(&profile);
	}
}

/* A rank gets 50 messages of 4000 bytes, in one turn. */
static void streams(void **state)
{
	static const struct {
		const char *seconds; /* from the first to the last without the slow link */
		double predicted;
	} cases[] = {
		{ "0", 1.2 },	  /* all come at once */
		{ "0.1", 1.1 },	  /* half of them come while the rank has others */
		{ "0.5", 1.004 }, /* only the first is waited for */
		{ "[],7", 1.2 },  /* not a time */
		{ "1e300", 1.2 }, /* not the time of a program */
	};
	static const int sites[] = { 0, 1 };
	const struct link link = { .delay = 0, .bandwidth = 1e6 };
	struct prediction prediction;
	struct profile profile;
	char text[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text),
			 "{\"version\":1,\"ranks\":2,\"parts\":[{\"rank\":0,\"seconds\":1,"
			 "\"sent\":[[1,20,50,200000,50]]},{\"rank\":1,\"calls\":[[\"Recv\",50,0]],"
			 "\"turns\":[[0,0,1,0,%s]]}]}",
			 cases[i].seconds);
		parse(&profile, text);
		assert_int_equal(predict(&profile, sites, &link, &prediction), 0);
		if (fabs(prediction.seconds - cases[i].predicted) > 1e-9)
			fail_msg("case %zu: expected %f s, found %f", i, cases[i].predicted,
				 prediction.seconds);
		profile_release(&profile);
	}
}

#define RANK(rank, calls, sent, turns)                                                             \
	"{\"rank\":" #rank ",\"calls\":[[\"" calls "\",50,0]],\"sent\":[" sent                     \
	"],\"turns\":[" turns "]}"

#define MEETINGS                                                                                   \
	"\"groups\":[{\"id\":\"a\",\"size\":2,\"first\":0,\"stride\":1}],"                         \
	"\"collectives\":[[\"Barrier\",0,0,10,0,0]]"

/* Each second rank is on the other site. */
static void turns(void **state)
{
	static const struct {
		int ranks, waits;
		const char *parts;
	} cases[] = {
		/* A stream crosses once. */
		{ 2, 1, RANK(0, "Send", "[1,1,50,0,50]", "") "," RANK(1, "Recv", "", "[0,0,1]") },
		/* Each answer is a round trip. */
		{ 2, 30,
		  RANK(0, "Recv", "[1,1,50,0,50]", "[1,15,0]") "," RANK(1, "Recv", "[0,1,50,0,50]",
									"[0,0,15]") },
		/* Both send at the same time. */
		{ 2, 40,
		  RANK(0, "Waitall", "[1,1,40,0,0]",
		       "[1,40,0]") "," RANK(1, "Waitall", "[0,1,40,0,0]", "[0,40,0]") },
		/* A rank waits for two others together. */
		{ 4, 50,
		  RANK(0, "Waitall", "[1,1,50,0,0],[3,1,50,0,0]", "[1,50,0],[3,50,0]") "," RANK(
			  1, "Waitall", "[0,1,50,0,0]",
			  "[0,50,0]") "," RANK(3, "Waitall", "[0,1,50,0,0]", "[0,50,0]") },
		/* In a ring each pair has a stream, and an answer comes by way of others. */
		{ 4, 50,
		  RANK(0, "Recv", "[1,1,50,0,50]", "[3,0,1]") "," RANK(
			  1, "Recv", "[2,1,50,0,50]",
			  "[0,0,1]") "," RANK(2, "Recv", "[3,1,50,0,50]",
					      "[1,0,1]") "," RANK(3, "Recv", "[0,1,50,0,50]",
								  "[2,0,1]") },
		/* A master that does not learn who sends. */
		{ 2, 100,
		  RANK(0, "Recv", "[1,1,50,0,50]", "[-1,0,50]") "," RANK(1, "Recv", "[0,1,50,0,50]",
									 "[0,50,0]") },
		/* The leader of a dialogue is late at 9 of the 10 meetings, which so cost nothing. */
		{ 2, 2 * 10 + 10 - 9,
		  "{\"rank\":0,\"calls\":[[\"Recv\",50,0]],\"sent\":[[1,1,10,0,10]],"
		  "\"turns\":[[1,10,0,9,0]]," MEETINGS "},"
		  "{\"rank\":1,\"calls\":[[\"Recv\",50,0]],\"sent\":[[0,1,10,0,10]],"
		  "\"turns\":[[0,0,10,0,0]]," MEETINGS "}" },
		/* In an exchange nobody is. */
		{ 2, 10 + 10,
		  "{\"rank\":0,\"calls\":[[\"Recv\",50,0]],\"sent\":[[1,1,10,0,10]],"
		  "\"turns\":[[1,10,0,9,0]]," MEETINGS "},"
		  "{\"rank\":1,\"calls\":[[\"Recv\",50,0]],\"sent\":[[0,1,10,0,10]],"
		  "\"turns\":[[0,10,0,9,0]]," MEETINGS "}" },
		/* Without turns, or with what is none, messages count that are waited for. */
		{ 2, 7, "{\"rank\":0,\"sent\":[[1,1,9,0,7]]}" },
		{ 2, 7,
		  RANK(0, "Send", "[1,1,7,0,7]", "[1,-5,[]],[],7,[1],[9,1,1],[1,\"x\",1e300]") },
	};
	static const int sites[] = { 0, 1, 0, 1 };
	const struct link link = { .delay = 0.01, .bandwidth = 1e6 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct prediction prediction;
		struct profile profile;
		char text[1024];

		snprintf(text, sizeof(text), "{\"version\":1,\"ranks\":%d,\"parts\":[%s]}",
			 cases[i].ranks, cases[i].parts);
		parse(&profile, text);
		predict(&profile, sites, &link, &prediction);
		if (prediction.waits != cases[i].waits)
			fail_msg("case %zu: expected %d waits, found %f", i, cases[i].waits,
				 prediction.waits);
		profile_release(&profile);
	}
}

/* ---- placement ---- */

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

static void drawing(void **state)
{
	struct profile profile;
	struct ms_error err;
	char path[128];
	const char *text;

	parse(&profile, ring);
	snprintf(path, sizeof(path), "%s/heat.svg", unit_dir);
	assert_int_equal(heat_write_svg(&profile, path, &err), 0);
	text = unit_read("heat.svg");
	assert_has(text, "<title>0 to 2: 10000 bytes</title>");
	assert_has(text, "</svg>");
	assert_int_equal(heat_write_svg(&profile, "/nowhere/heat.svg", &err), -1);
	profile_release(&profile);
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

static void programs(void **state)
{
	static const struct {
		const char *first, *second, *hash;
		bool several;
	} pairs[] = {
		{ "00000000000000aa", "00000000000000aa", "00000000000000aa", false },
		{ "00000000000000aa", "00000000000000ab", "", true },
		{ "00000000000000a", "x", "", false },
		{ "000000000000000g", "00000000000000ab", "00000000000000ab", false },
	};
	struct profile profile;
	char text[256];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		snprintf(
			text, sizeof(text),
			"{\"version\":1,\"ranks\":2,\"parts\":[{\"rank\":0,\"program_hash\":\"%s\"},"
			"{\"rank\":1,\"program_hash\":\"%s\"}]}",
			pairs[i].first, pairs[i].second);
		parse(&profile, text);
		assert_string_equal(profile.program_hash, pairs[i].hash);
		assert_int_equal(profile.several_programs, pairs[i].several);
		profile_release(&profile);
	}
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
}

/* The files of a step: ranks that have ended have their sums there, the others their page. */
static void sums_of_ranks(void **state)
{
	struct page_sums ended = { .magic = PAGE_SUMS_MAGIC,
				   .ranks = UINT64_MAX,
				   .ns = 100,
				   .messages = 5,
				   .bytes = UINT64_MAX };
	struct page *page = calloc(1, page_size(1));
	struct pages pages;
	struct ms_error err;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(page);
	assert_non_null(out);
	page->magic = PAGE_MAGIC;
	page->ranks = 1;
	page->peers[0][1] = (struct page_peer){ .n = 7, .bytes = 70 };
	write_bytes("0-1", &ended, sizeof(ended));
	write_bytes("1-2", &ended, sizeof(ended));
	write_bytes("2-3", page, page_size(1));
	ended.magic++;
	write_bytes("3-4", &ended, sizeof(ended));
	write_bytes("4-5", "", 0);
	assert_int_equal(pages_print(unit_dir, "5.0", out, &pages, &err), 0);
	fclose(out);
	assert_int_equal(pages.ended, 2);
	assert_int_equal(pages.printed, 1);
	/* Each file is one rank, whatever it says, and no sum wraps. */
	assert_int_equal(pages.sums.ranks, 3);
	assert_int_equal(pages.sums.ns, 200);
	assert_int_equal(pages.sums.messages, 17);
	assert_int_equal(pages.sums.bytes, PAGE_SUMS_MAX);
	free(text);
	free(page);
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
		cmocka_unit_test(reading),	   cmocka_unit_test(garbage),
		cmocka_unit_test(damaged),	   cmocka_unit_test(predicting),
		cmocka_unit_test(streams),	   cmocka_unit_test(turns),
		cmocka_unit_test(meetings),	   cmocka_unit_test(small_placements),
		cmocka_unit_test(large_placement), cmocka_unit_test(sums_of_ranks),
		cmocka_unit_test(numa_placements), cmocka_unit_test(numa_choice),
		cmocka_unit_test(drawing),	   cmocka_unit_test(many_names),
		cmocka_unit_test(all_splits),	   cmocka_unit_test(programs),
		cmocka_unit_test(nodes_of_slurm),  cmocka_unit_test(what_is_to_win),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
