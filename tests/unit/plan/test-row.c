// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the choice of rows of memory blocks. */
#include "unit/unit.h"

#include "plan/row.h"

#define MAX_BLOCKS 32

/* A block is a letter of 'map': 'm' can be taken, '.' cannot, ' ' is not there. */
static size_t choose(const char *map, size_t wanted, size_t *from)
{
	struct memory_block blocks[MAX_BLOCKS] = { 0 };
	bool fit[MAX_BLOCKS];
	size_t n = 0, first, count;

	for (size_t i = 0; map[i]; i++) {
		if (map[i] == ' ')
			continue;
		blocks[n].index = i;
		fit[n++] = map[i] == 'm';
	}
	count = row_choose(blocks, fit, n, wanted, &first);
	*from = count ? blocks[first].index : 0;
	return count;
}

#define assert_choice(map, wanted, count, from)                                                    \
	do {                                                                                       \
		size_t at;                                                                         \
		assert_int_equal(choose(map, wanted, &at), count);                                 \
		assert_int_equal(at, from);                                                        \
	} while (0)

static void the_smallest_row_that_is_long_enough(void **state)
{
	assert_choice("mmmmm.mmm.mm.", 2, 2, 10);
	assert_choice("mmmmm.mmm.mm.", 3, 3, 6);
	assert_choice("mm.mmm.mmmmm", 4, 4, 7);
	assert_choice("mmmm.m.mm", 1, 1, 5);
}

static void the_lower_end_of_it(void **state)
{
	assert_choice(".mmmmm.", 2, 2, 1);
	assert_choice("mmmmm", 1, 1, 0);
}

static void the_longest_row_where_none_is_long_enough(void **state)
{
	assert_choice("mm.mmm.m", 6, 3, 3);
	assert_choice("m.m.m", 2, 1, 0);
}

static void a_hole_ends_a_row(void **state)
{
	assert_choice("mm mm", 4, 2, 0);
	assert_choice("mmm mm", 2, 2, 4);
}

static void nothing_to_choose_from(void **state)
{
	assert_choice("", 3, 0, 0);
	assert_choice("...", 1, 0, 0);
	assert_choice("mmm", 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_row_that_is_long_enough),
		cmocka_unit_test(the_lower_end_of_it),
		cmocka_unit_test(the_longest_row_where_none_is_long_enough),
		cmocka_unit_test(a_hole_ends_a_row),
		cmocka_unit_test(nothing_to_choose_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
