// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page that a rank of an MPI program leaves, which its user can fill with anything, and the
 * profile, which root may read: a page is printed as JSON, or refused.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lwkctl/mpi/choice.h"
#include "lwkctl/mpi/profile.h"
#include "mpi/page.h"

#define MOST_RANKS 8
/* Predicting takes longer than reading, and placing many ranks much longer. */
#define MOST_PLACED 32

static void check_profile(const struct profile *profile)
{
	int present = 0;

	must(profile->ranks > 0 && profile->ranks <= PROFILE_RANKS_MAX);
	for (int i = 0; i < profile->ranks; i++)
		present += profile->rank[i].present;
	must(present == profile->present);
	for (size_t i = 0; i < profile->n_edges; i++) {
		const struct profile_edge *edge = &profile->edges[i];

		must(edge->from >= 0 && edge->from < profile->ranks);
		must(edge->to >= 0 && edge->to < profile->ranks);
	}
	for (size_t i = 0; i < profile->n_operations; i++) {
		const struct profile_operation *operation = &profile->operations[i];

		for (int j = 0; operation->members && j < operation->size; j++)
			must(operation->members[j] >= 0 && operation->members[j] < profile->ranks);
	}
}

static void read_profile(const char *text, size_t length, bool must_be_one)
{
	struct profile profile;
	struct ms_error err;

	if (profile_parse(text, length, "fuzzed", &profile, &err) < 0) {
		must(!must_be_one);
		return;
	}
	check_profile(&profile);
	if (profile.ranks <= MOST_PLACED) {
		struct choice *choice = calloc(1, sizeof(*choice));

		choice->link = (struct link){ .delay = 1e-3, .bandwidth = 1e6 };
		must(choice_split(choice, NULL, profile.ranks));
		must(choice_make(choice, &profile, &err) == 0);
		choice_release(choice);
	}
	profile_release(&profile);
}

static void print_page(struct input *input)
{
	size_t size = page_size(MOST_RANKS), length = 0;
	struct page *page = calloc(1, size);
	struct page_sums sums;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	page->magic = PAGE_MAGIC;
	page->ranks = take_byte(input) % (MOST_RANKS + 1);
	page->rank = take_byte(input) % (MOST_RANKS + 1);
	/* Here and there some bytes: most of a page are tables. */
	while (input->left) {
		size_t at = take_number(input, 3) % size, n = take_byte(input) % 32;

		take_bytes(input, (char *)page + at, n < size - at ? n : size - at);
	}
	fprintf(out, "{\"version\":1,\"ranks\":%d,\"parts\":[", MOST_RANKS);
	size -= page->rank & 1 ? sizeof(struct page_peer) : 0;
	if (page_print(page, size, out)) {
		must(page_sum(page, size, &sums) && sums.bytes <= PAGE_SUMS_MAX &&
		     sums.ns <= PAGE_SUMS_MAX);
		fputs("]}", out);
		fclose(out);
		read_profile(text, length, true);
	} else {
		fclose(out);
	}
	free(text);
	free(page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (size && *data == '{')
		read_profile((const char *)data, size, false);
	else
		print_page(&input);
	return 0;
}
