// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the parsing of sizes, CPU lists and other values, and the formatting of sizes. */
#include "unit/unit.h"

#include "base/parse.h"
#include "modeswitch/config.h"

static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "64M", 64UL << 20 },
		{ "1G", 1UL << 30 },
		{ "512k", 512UL << 10 },
		{ "2T", 2UL << 40 },
		{ "0", 0 },
		{ "0M", 0 },
		{ "007M", 7UL << 20 },
		{ "16777215T", 16777215UL << 40 },
	};
	static const char *const bad[] = {
		"",
		"64",
		"M",
		"64MB",
		"64 M",
		" 64M",
		"-1M",
		"+1M",
		"1.5G",
		"64X",
		"0x40M",
		"16777216T",
		"99999999999999999999M",
		"64M ",
	};
	struct ms_error err;
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(ms_parse_size(good[i].text, &bytes, &err), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (ms_parse_size(bad[i], &bytes, &err) == 0)
			fail_msg("\"%s\" was taken for %ju", bad[i], (uintmax_t)bytes);
		assert_has(err.text, bad[i]);
	}
}

static void cpu_lists(void **state)
{
	static const char *const good[] = { "0", "0-3", "0-3,8", "1,3,5-7,65535", "" };
	static const char *const bad[] = {
		"a",	 "3-",		 "-3",		"4-2",	 "1,,2",  "1,",
		",1",	 " 1",		 "1 ",		"0x3",	 "1-2-3", "1;3",
		"65536", "0-4294967296", "99999999999", "1,4-2", "+1",	  "017777777777",
	};
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	struct ms_error err;
	char text[64];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(ms_parse_cpus(good[i], cpus, &err), 0);
		hwloc_bitmap_list_snprintf(text, sizeof(text), cpus);
		assert_string_equal(text, good[i]);
	}
	/* A zero at the start makes no octal number. */
	assert_int_equal(ms_parse_cpus("010-0000011", cpus, &err), 0);
	hwloc_bitmap_list_snprintf(text, sizeof(text), cpus);
	assert_string_equal(text, "10-11");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (ms_parse_cpus(bad[i], cpus, &err) == 0)
			fail_msg("\"%s\" was taken for a list", bad[i]);
		assert_has(err.text, bad[i]);
	}
	hwloc_bitmap_free(cpus);
}

static void amounts(void **state)
{
	static const char *const bad[] = { "",
					   "ALL",
					   "0%",
					   "101%",
					   "-1",
					   "-1%",
					   "1e3",
					   "%",
					   "50",
					   "50 %",
					   "5.5%",
					   "0",
					   "0M",
					   "50%%",
					   "1000%",
					   "+5%",
					   " 5%",
					   "4294967297%",
					   "18446744073709551615T",
					   "0x10M" };
	struct ms_amount amount;
	struct ms_error err;

	assert_int_equal(ms_parse_amount("all", &amount, &err), 0);
	assert_true(!amount.percent && !amount.bytes);
	assert_int_equal(ms_parse_amount("1%", &amount, &err), 0);
	assert_true(amount.percent == 1 && !amount.bytes);
	assert_int_equal(ms_parse_amount("100%", &amount, &err), 0);
	assert_int_equal(amount.percent, 100);
	assert_int_equal(ms_parse_amount("512M", &amount, &err), 0);
	assert_true(!amount.percent && amount.bytes == 512UL << 20);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (ms_parse_amount(bad[i], &amount, &err) == 0)
			fail_msg("\"%s\" was taken for an amount", bad[i]);
		assert_has(err.text, "expected all, 1% to 100%, or a size");
		assert_has(err.text, bad[i]);
	}
}

static void numa_policies(void **state)
{
	static const char *const bad[] = { "",		 "Local",   "bind",	    "bind=",
					   "bind=a",	 "bind=0-", "bind=-1",	    "bind=0,",
					   "bind=70000", "local,",  "interleave=0", "bind=1 ",
					   "preferred=0" };
	struct ms_numa numa;
	struct ms_error err;

	assert_int_equal(ms_parse_numa("local", &numa, &err), 0);
	assert_true(numa.policy == MS_NUMA_LOCAL && !numa.nodes);
	assert_int_equal(ms_parse_numa("interleave", &numa, &err), 0);
	assert_true(numa.policy == MS_NUMA_INTERLEAVE && !numa.nodes);
	assert_int_equal(ms_parse_numa("bind=0,2-3", &numa, &err), 0);
	assert_int_equal(numa.policy, MS_NUMA_BIND);
	assert_int_equal(hwloc_bitmap_weight(numa.nodes), 3);
	ms_numa_release(&numa);
	assert_true(numa.policy == MS_NUMA_SITE && !numa.nodes);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (ms_parse_numa(bad[i], &numa, &err) == 0)
			fail_msg("\"%s\" was taken for a policy", bad[i]);
		assert_has(err.text, bad[i]);
	}
}

static void image_names(void **state)
{
	static const char *const good[] = { "lwk",     "a",
					    "0",       "mckernel-1.8",
					    "A_b.C-d", "abcdefghijklmnopqrstuvwxyz012345" };
	static const char *const bad[] = { "",
					   ".hidden",
					   "-x",
					   "_x",
					   "a/b",
					   "a b",
					   "a;b",
					   "a\n",
					   "ä",
					   "$HOME",
					   "abcdefghijklmnopqrstuvwxyz0123456" };

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(ms_image_name_valid(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(ms_image_name_valid(bad[i]));
}

static void sizes_are_written(void **state)
{
	char text[FORMAT_SIZE];

	assert_string_equal(format_size(0, text), "0 bytes");
	assert_string_equal(format_size(1000, text), "1000 bytes");
	assert_string_equal(format_size(448UL << 20, text), "448 MB");
	assert_string_equal(format_size(1UL << 30, text), "1 GB");
	assert_string_equal(format_size(1025UL << 20, text), "1025 MB");
}

static void errors_may_quote_themselves(void **state)
{
	struct ms_error err;

	assert_int_equal(ms_fail(&err, "inner %d", 1), -1);
	assert_int_equal(ms_fail(&err, "outer: %s", err.text), -1);
	assert_string_equal(err.text, "outer: inner 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(amounts),
		cmocka_unit_test(numa_policies),
		cmocka_unit_test(image_names),
		cmocka_unit_test(sizes_are_written),
		cmocka_unit_test(errors_may_quote_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
