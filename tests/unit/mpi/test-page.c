// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages of MPI ranks, which their user can fill with anything. */
#include "unit/unit.h"

#include <json-c/json.h>

#include "mpi/page.h"
#include "mpi/turns.h"

#define RANKS 3

static struct page *make_page(void)
{
	struct page *page = calloc(1, page_size(RANKS));

	assert_non_null(page);
	*page = (struct page){ .magic = PAGE_MAGIC,
			       .ranks = RANKS,
			       .rank = 1,
			       .n_calls = 1,
			       .n_groups = 1,
			       .first_ticks = 1000,
			       .first_ns = 5,
			       .last_ticks = 3001000,
			       .last_ns = 1000005,
			       .mpi_ticks = 1500000,
			       .host = "node1",
			       .program_hash = 0xabc };
	page->calls[0] = (struct page_call){ .name = "Send", .n = 7, .ticks = 3000000 };
	page->groups[0] = (struct page_group){ .id = 1, .size = 3, .stride = 1 };
	page->collectives[9] =
		(struct page_collective){ .used = 1, .class = 2, .n = 4, .bytes = 400 };
	page->peers[2][1] = (struct page_peer){ .n = 7, .bytes = 70, .blocking = 6 };
	page->peers[RANKS][0].n = 1;
	page->peers[RANKS + 1 + 0][3] = (struct page_peer){ .n = 1, .bytes = 4096 };
	page_turns(page)[2] = (struct page_turns){
		.leads = 5, .follows = 2, .hidden = 3, .stream_ticks = 1500000
	};
	page_turns(page)[RANKS].follows = 1;
	return page;
}

/* Prints the page; valid until the next call. NULL: it is refused. */
static const char *print(const struct page *page, size_t size)
{
	static char text[1 << 20];
	FILE *out = fmemopen(text, sizeof(text), "w");
	bool printed;

	assert_non_null(out);
	printed = page_print(page, size, out);
	fclose(out);
	return printed ? text : NULL;
}

static void classes(void **state)
{
	static const uint64_t last[] = { 0, 64, 512, 4096, 32768, 262144, 2097152 };

	for (unsigned i = 0; i < PAGE_CLASSES - 1; i++) {
		assert_int_equal(page_class(last[i]), i);
		assert_int_equal(page_class(last[i] + 1), i + 1);
	}
	assert_int_equal(page_class(UINT64_MAX), PAGE_CLASSES - 1);
}

static void what_was_counted(void **state)
{
	struct page *page = make_page();
	const char *text = print(page, page_size(RANKS));

	assert_non_null(text);
	assert_has(text, "\"rank\":1,\"host\":\"node1\"");
	assert_has(text, "\"program_hash\":\"0000000000000abc\"");
	/* 3000000 ticks are a millisecond. */
	assert_has(text, "\"seconds\":0.001000000,\"mpi_seconds\":0.000500000");
	assert_has(text, "\"calls\":[[\"Send\",7,0.001000000]]");
	assert_has(text, "\"collectives\":[[\"Send\",0,2,4,400,0.000000000]]");
	assert_has(text, "\"sent\":[[2,1,7,70,6],[-1,0,1,0,0]]");
	assert_has(text, "\"fetched\":[[0,3,1,4096,0]]");
	assert_has(text, "\"turns\":[[2,5,2,3,0.000500000],[-1,0,1,0,0.000000000]]");
	free(page);
}

static void sums(void **state)
{
	struct page *page = make_page();
	struct page_sums sums, all = { 0 };

	assert_true(page_sum(page, page_size(RANKS), &sums));
	assert_int_equal(sums.ranks, 1);
	assert_int_equal(sums.ns, 1000000);
	assert_int_equal(sums.mpi_ns, 500000);
	/* Sent to a rank and to an unknown one, and fetched. */
	assert_int_equal(sums.messages, 7 + 1 + 1);
	assert_int_equal(sums.operations, 4);
	assert_int_equal(sums.bytes, 70 + 4096 + 400);
	page_sums_add(&all, &sums);
	page_sums_add(&all, &sums);
	assert_int_equal(all.ranks, 2);
	assert_int_equal(all.ns, 2000000);
	assert_int_equal(all.bytes, 2 * (70 + 4096 + 400));
	/* Sums have a bound, and nothing wraps. */
	page->peers[0][0].bytes = page->peers[0][1].bytes = UINT64_MAX;
	page->last_ns = UINT64_MAX;
	assert_true(page_sum(page, page_size(RANKS), &sums));
	assert_int_equal(sums.bytes, PAGE_SUMS_MAX);
	assert_int_equal(sums.ns, PAGE_SUMS_MAX);
	sums.messages = UINT64_MAX;
	page_sums_add(&all, &sums);
	assert_int_equal(all.messages, PAGE_SUMS_MAX);
	assert_int_equal(all.bytes, PAGE_SUMS_MAX);
	assert_false(page_sum(page, page_size(RANKS) - 1, &sums));
	free(page);
}

static void no_pages(void **state)
{
	struct page *page = make_page();
	size_t size = page_size(RANKS);

	assert_null(print(page, size - 1));
	assert_null(print(page, 8));
	page->ranks = RANKS + 1; /* longer than the file */
	assert_null(print(page, size));
	page->ranks = UINT32_MAX;
	assert_null(print(page, size));
	page->ranks = RANKS;
	page->rank = RANKS;
	assert_null(print(page, size));
	page->rank = 0;
	page->magic++;
	assert_null(print(page, size));
	free(page);
}

/*
 * A rank's calls with a peer, ten ticks each: 's' is a message to it, 'r' one from it, 'm' a meeting of
 * all.
 */
static void check_turns(const char *calls, unsigned leads, unsigned follows, unsigned hidden,
			unsigned stream_ticks)
{
	struct page *page = make_page();
	uint64_t now = UINT64_MAX - 20; /* ticks may wrap */
	struct page_turns *turns = &page_turns(page)[0];

	turns_met();
	for (; *calls; calls++, now += 10) {
		if (*calls == 's')
			turns_sent(page, 0);
		else if (*calls == 'r')
			turns_received(page, 0, now);
		else
			turns_met();
	}
	if (turns->leads != leads || turns->follows != follows)
		fail_msg("expected %u and %u turns, found %ju and %ju", leads, follows,
			 (uintmax_t)turns->leads, (uintmax_t)turns->follows);
	assert_int_equal(turns->hidden, hidden);
	assert_int_equal(turns->stream_ticks, stream_ticks);
	/* Nothing is counted with other ranks. */
	assert_int_equal(page_turns(page)[2].leads, 5);
	assert_int_equal(page_turns(page)[1].leads + page_turns(page)[1].follows, 0);
	free(page);
}

static void turns(void **state)
{
	check_turns("ssss", 0, 0, 0, 0);
	/* A stream counts once. */
	check_turns("rrrr", 0, 1, 0, 30);
	/* Both sides of a dialogue, and of one with streams. */
	check_turns("srsrsr", 3, 0, 0, 0);
	check_turns("rsrsrs", 0, 3, 0, 0);
	check_turns("sssrrrsssrrr", 2, 0, 0, 40);
	/* The leader may be another one when all have met. */
	check_turns("srsrmrsrs", 2, 2, 0, 0);
	check_turns("rmrmr", 0, 3, 0, 0);
	/* A leader is late at a meeting, and the next one only makes up for it. */
	check_turns("srmsrmsr", 3, 0, 2, 0);
	check_turns("srmmsr", 2, 0, 0, 0);
	check_turns("srmmmsr", 2, 0, 1, 0);
	check_turns("srmssms", 1, 0, 1, 0);
}

/* Receives that have begun count when they complete, and none is lost. */
static void turns_of_open_receives(void **state)
{
	struct page *page = make_page();

	turns_met();
	turns_received(page, RANKS, 0); /* takes note of what other tests have sent */
	for (int i = 0; i < 1000; i++) {
		turns_posted(page, 0, i);
		turns_posted(page, RANKS, i);
		turns_sent(page, 0);
		turns_completed(page, 1000);
		turns_completed(page, 1000);
	}
	assert_int_equal(page_turns(page)[0].leads, 1000);
	assert_int_equal(page_turns(page)[0].follows, 0);
	assert_int_equal(page_turns(page)[RANKS].leads + page_turns(page)[RANKS].follows, 1002);
	for (int i = 0; i < 1000; i++)
		turns_posted(page, 1, i);
	turns_completed(page, 1000);
	assert_int_equal(page_turns(page)[1].follows, 1);
	free(page);
}

/* With any bytes behind a valid head, the text is JSON and nothing outside the page is read. */
static void garbage(void **state)
{
	size_t size = page_size(RANKS);
	struct page *page = malloc(size); /* the sanitizer watches its end */

	assert_non_null(page);
	for (unsigned try = 0; try < 200; try++) {
		struct json_object *object;
		const char *text;

		for (size_t i = 0; i < size; i++)
			((unsigned char *)page)[i] = try < 2 ? -
			try : random()
				>> 7;
		page->magic = PAGE_MAGIC;
		page->ranks = RANKS;
		page->rank = 2;
		if (try % 2)
			page->n_groups = 1; /* prints a list of members at times */
		page->groups[0].stride = 0;
		page->groups[0].first = 2;
		page->groups[0].size = try * 999;
		page->groups[0].members = PAGE_MEMBERS - try;
		text = print(page, size);
		assert_non_null(text);
		object = json_tokener_parse(text);
		if (!object && strlen(text) < (1 << 20) - 2)
			fail_msg("expected JSON, found: %.200s", text);
		json_object_put(object);
	}
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(what_was_counted),
		cmocka_unit_test(sums),
		cmocka_unit_test(no_pages),
		cmocka_unit_test(garbage),
		cmocka_unit_test(turns),
		cmocka_unit_test(turns_of_open_receives),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
