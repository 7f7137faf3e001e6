// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles of MPI programs are read, and drawn as pages; damaged ones do no harm. */
#include "unit/unit.h"

#include <time.h>

#include "lwkctl/mpi/heat.h"
#include "lwkctl/mpi/profile.h"
#include "lwkctl/mpi/save.h"
#include "unit/lwkctl/profiles.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading),	 cmocka_unit_test(garbage),
		cmocka_unit_test(damaged),	 cmocka_unit_test(many_names),
		cmocka_unit_test(programs),	 cmocka_unit_test(drawing),
		cmocka_unit_test(sums_of_ranks),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
