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

static void a_message_has_no_control_beyond_ascii(void **state)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{ "\xc2\x9b"
		  "2J",
		  "??2J" }, /* CSI */
		{ "\x9b"
		  "2J",
		  "?2J" },
		{ "a\xe2\x80\xae"
		  "b",
		  "a???b" }, /* from right to left */
		{ "a\xe2\x80\xa8"
		  "b",
		  "a???b" },	      /* a line's end */
		{ "\xc0\x8a", "??" }, /* a newline in two bytes */
		{ "\xe0\x82\x9b", "???" },
		{ "\xed\xa0\x80", "???" },
		{ "\xf4\x90\x80\x80", "????" },
		{ "\xf8\x88\x80\x80\x80", "?????" },
		{ "\xe8\xaa", "??" }, /* a character that was cut */
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	};
	struct ms_error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ms_fail(&err, "%s", cases[i].text);
		assert_string_equal(err.text, cases[i].printed);
	}
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
		cmocka_unit_test(a_message_has_no_control_beyond_ascii),
		cmocka_unit_test(a_long_message_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
