// SPDX-License-Identifier: GPL-2.0-or-later
/* Predictions tell what a slow link between sites costs the program of a profile. */
#include "unit/unit.h"

#include <math.h>

#include "lwkctl/mpi/predict.h"
#include "lwkctl/mpi/profile.h"
#include "unit/lwkctl/profiles.h"

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
		/* In an exchange no rank is late. */
		{ 2, 10 + 10,
		  "{\"rank\":0,\"calls\":[[\"Recv\",50,0]],\"sent\":[[1,1,10,0,10]],"
		  "\"turns\":[[1,10,0,9,0]]," MEETINGS "},"
		  "{\"rank\":1,\"calls\":[[\"Recv\",50,0]],\"sent\":[[0,1,10,0,10]],"
		  "\"turns\":[[0,10,0,9,0]]," MEETINGS "}" },
		/* Without turns, or with malformed ones, each message that a rank waits for counts. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(predicting),
		cmocka_unit_test(meetings),
		cmocka_unit_test(streams),
		cmocka_unit_test(turns),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
