// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that empty cpusets of cgroup version 2 get the names of all nodes, on files like the kernel's. */
#include "unit/unit.h"

#include <errno.h>

#include "base/cpusets.h"

#define PID 4711
#define MOUNTS "proc/self/mounts"
#define UNIFIED "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n"
#define CPUSET "cgroup /c/cpuset cgroup rw,cpuset,noprefix 0 0\n"
#define AT "sys/fs/cgroup/"
#define NODES "0-1"

static int setup(void **state)
{
	int ret = unit_setup_root(state);

	unit_file("sys/devices/system/node/possible", NODES "\n");
	unit_file("proc/4711/cgroup", "0::/a/c\n");
	unit_file(MOUNTS, UNIFIED);
	unit_file(AT "cgroup.procs", "\n");
	unit_file(AT "a/cpuset.mems", "\n");
	unit_file(AT "a/b/cpuset.mems", "1\n");
	unit_file(AT "a/b/d/cpuset.mems", "\n");
	unit_file(AT "a/c/cpuset.mems", "\n");
	return ret;
}

static void every_empty_cpuset_gets_all_nodes(void **state)
{
	assert_int_equal(cpusets_name_nodes(), 0);
	assert_string_equal(unit_read(AT "a/cpuset.mems"), NODES);
	assert_string_equal(unit_read(AT "a/b/cpuset.mems"), "1\n");
	assert_string_equal(unit_read(AT "a/b/d/cpuset.mems"), NODES);
	assert_string_equal(unit_read(AT "a/c/cpuset.mems"), NODES);
	assert_false(unit_exists(AT "cpuset.mems"));
}

static void a_process_s_cpuset_gets_them_alone(void **state)
{
	assert_int_equal(cpusets_name_nodes_of(PID), 0);
	assert_string_equal(unit_read(AT "a/c/cpuset.mems"), NODES);
	assert_string_equal(unit_read(AT "a/cpuset.mems"), "\n");
	assert_int_equal(cpusets_name_nodes_of(PID + 1), 0);
}

static void other_hierarchies_stay(void **state)
{
	unit_file(MOUNTS, UNIFIED CPUSET);
	assert_int_equal(cpusets_name_nodes(), 0);
	assert_int_equal(cpusets_name_nodes_of(PID), 0);
	unit_file(MOUNTS, "proc /proc proc rw 0 0\n");
	assert_int_equal(cpusets_name_nodes(), 0);
	assert_string_equal(unit_read(AT "a/c/cpuset.mems"), "\n");
}

/* Users can make cgroups where systemd lets them. */
static void what_users_make_misleads_nobody(void **state)
{
	char path[1024] = AT "a", link[128];

	unit_file("elsewhere", "\n");
	unit_file(AT "a/e/cgroup.procs", "\n");
	unit_file(AT "a/e/f/cpuset.mems", "\n");
	snprintf(link, sizeof(link), "%s/" AT "a/e/cpuset.mems", unit_dir);
	assert_int_equal(symlink("../../../../../elsewhere", link), 0);
	assert_int_equal(cpusets_name_nodes(), -ELOOP);
	assert_string_equal(unit_read("elsewhere"), "\n");
	assert_string_equal(unit_read(AT "a/c/cpuset.mems"), NODES);
	/* Below a cgroup without a cpuset there is none. */
	assert_string_equal(unit_read(AT "a/e/f/cpuset.mems"), "\n");

	assert_int_equal(unlink(link), 0);
	assert_int_equal(cpusets_name_nodes(), 0);
	for (int i = 0; i < 70; i++) {
		strcat(path, "/g/cpuset.mems");
		unit_file(path, "\n");
		*strrchr(path, '/') = '\0';
	}
	assert_int_equal(cpusets_name_nodes(), -ELOOP);
}

static void a_machine_that_tells_no_nodes_changes_nothing(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/sys/devices/system/node/possible", unit_dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(cpusets_name_nodes(), -ENOENT);
	assert_string_equal(unit_read(AT "a/c/cpuset.mems"), "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_empty_cpuset_gets_all_nodes, setup,
						unit_teardown_root),
		cmocka_unit_test_setup_teardown(a_process_s_cpuset_gets_them_alone, setup,
						unit_teardown_root),
		cmocka_unit_test_setup_teardown(other_hierarchies_stay, setup, unit_teardown_root),
		cmocka_unit_test_setup_teardown(what_users_make_misleads_nobody, setup,
						unit_teardown_root),
		cmocka_unit_test_setup_teardown(a_machine_that_tells_no_nodes_changes_nothing,
						setup, unit_teardown_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
