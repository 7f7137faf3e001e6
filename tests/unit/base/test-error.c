// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that no text of a user's makes more of a message than a part of its one line. */
#include "unit/unit.h"

static void a_message_is_one_printable_line(void **state)
{
	struct ms_error err;

	assert_int_equal(ms_fail(&err, "found \"%s\"", "1M\nerror: forged\r\033[2J\x7f\t%n%s"), -1);
	assert_string_equal(err.text, "found \"1M?error: forged??[2J??%n%s\"");
	assert_int_equal(ms_fail(&err, "found \"%s\"", "größer als 語"), -1);
	assert_string_equal(err.text, "found \"größer als 語\"");
	/* The text itself may be an argument. */
	ms_fail(&err, "--lwk-mem: %s\n", err.text);
	assert_string_equal(err.text, "--lwk-mem: found \"größer als 語\"?");
}

static void a_long_message_is_cut(void **state)
{
	static char text[64 << 10];
	struct ms_error err;

	memset(text, '\n', sizeof(text) - 1);
	ms_fail(&err, "found \"%s\"", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_null(strchr(err.text, '\n'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_one_printable_line),
		cmocka_unit_test(a_long_message_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
