// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the views of /sys and /proc/cpuinfo: the machine's tree, and the trees of jobs. */
#include "unit/unit.h"

#include "base/files.h"
#include "machine/sysview/sysview.h"

#define JOB 7
#define VIEW "jobs/7.sys/"

static hwloc_bitmap_t cpus;

static void make_machine(void)
{
	unit_file("sys/devices/system/cpu/online", "0-3,30-39\n");
	unit_file("sys/devices/system/node/online", "0-1,4\n");
	unit_file("sys/devices/system/node/node1/distance", "21 10 32\n");
	unit_file("sys/devices/system/node/node4/distance", "30 32 10\n");
	for (unsigned cpu = 0; cpu < 40; cpu++) {
		char name[128];

		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/topology/core_id", cpu);
		unit_file(name, "%u\n", cpu / 2);
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/topology/core_cpus_list",
			 cpu);
		unit_file(name, "%u-%u\n", cpu & ~1U, cpu | 1);
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/cache/index0/size", cpu);
		unit_file(name, "48K\n");
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/online", cpu);
		unit_file(name, "1\n");
	}
	unit_file("proc/cpuinfo", "processor\t: 30\nmodel\t\t: first\n\nprocessor\t: 31\n"
				  "model\t\t: second\n\nprocessor\t: 32\nmodel\t\t: third\n\n");
}

static int setup(void **state)
{
	if (unit_setup(state) < 0)
		return -1;
	files_root = unit_dir;
	cpus = hwloc_bitmap_alloc();
	hwloc_bitmap_set_range(cpus, 31, 34);
	make_machine();
	return 0;
}

static void keep(bool again)
{
	struct ms_error err;
	int lock = state_lock(1000, &err);

	assert_true(lock >= 0);
	assert_int_equal(sysview_keep_machine(again, &err), 0);
	close(lock);
}

static int teardown(void **state)
{
	hwloc_bitmap_free(cpus);
	files_root = "";
	return unit_teardown(state);
}

static void make(void)
{
	struct sysview_node nodes[5] = { [1] = { .cpus = cpus, .bytes = 640 << 20 },
					 [4] = { .cpus = hwloc_bitmap_alloc(),
						 .bytes = 128 << 20 } };
	struct ms_error err;

	assert_int_equal(sysview_make(JOB, cpus, nodes, 5, &err), 0);
	hwloc_bitmap_free(nodes[4].cpus);
}

static void assert_file(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), VIEW "%s", name);
	assert_string_equal(unit_read(path), text);
}

static void cpus_are_those_of_the_lwk(void **state)
{
	keep(false);
	make();
	assert_file("cpu/online", "31-34\n");
	assert_file("cpu/present", "31-34\n");
	assert_file("cpu/possible", "0-34\n");
	assert_false(unit_exists(VIEW "cpu/cpu30"));
	assert_file("cpu/cpu31/online", "1\n");
	assert_file("cpu/cpu31/topology/core_id", "15\n");
	assert_file("cpu/cpu31/topology/core_cpus_list", "30-31\n");
	assert_file("cpu/cpu31/cache/index0/size", "48K\n");
	assert_false(unit_exists(VIEW "cpu/cpu31/cache/index1"));
	/* This kernel has no such file. */
	assert_false(unit_exists(VIEW "cpu/cpu31/topology/cluster_id"));
	assert_file("cpuinfo", "processor\t: 31\nmodel\t\t: second\n\nprocessor\t: 32\n"
			       "model\t\t: third\n\n");
}

static void the_machine_is_kept_until_it_is_another(void **state)
{
	/* A tree that was being made when its maker was killed is replaced. */
	unit_file("sysfs.new/cpu0/topology/core_id", "99\n");
	keep(false);
	assert_string_equal(unit_read("sysfs/cpu31/topology/core_id"), "15\n");
	assert_false(unit_exists("sysfs/cpu4"));
	assert_false(unit_exists("sysfs.new"));
	unit_file("sys/devices/system/cpu/cpu31/topology/core_id", "16\n");
	keep(false);
	assert_string_equal(unit_read("sysfs/cpu31/topology/core_id"), "15\n");
	unit_file("sys/devices/system/cpu/online", "0-39\n");
	keep(true);
	assert_string_equal(unit_read("sysfs/cpu31/topology/core_id"), "16\n");
	assert_true(unit_exists("sysfs/cpu4"));
}

static void nodes_are_those_with_its_cpus_or_memory(void **state)
{
	keep(false);
	make();
	assert_file("node/online", "1,4\n");
	assert_file("node/has_cpu", "1\n");
	assert_file("node/has_memory", "1,4\n");
	assert_false(unit_exists(VIEW "node/node0"));
	assert_file("node/node1/cpulist", "31-34\n");
	assert_file("node/node1/cpumap", "00000007,80000000\n");
	assert_file("node/node1/distance", "10 32\n");
	assert_file("node/node4/distance", "32 10\n");
	assert_file("node/node4/cpulist", "\n");
	assert_file("node/node4/cpumap", "00000000\n");
	assert_file("node/node4/meminfo", "Node 4 MemTotal:         131072 kB\n");
	assert_file("node/node1/cpu33/topology/core_id", "16\n");
	assert_file("cpu/cpu33/node1/cpulist", "31-34\n");
}

static void assert_mode(const char *name, mode_t mode)
{
	struct stat st;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

static void others_may_read_it_and_nobody_may_write(void **state)
{
	mode_t mask = umask(0177);

	keep(false);
	make();
	umask(mask);
	assert_mode(VIEW "cpu/online", 0444);
	assert_mode(VIEW "cpuinfo", 0444);
	assert_mode(VIEW "cpu/cpu31", 0755);
	assert_mode("sysfs/cpu31/cache/index0", 0755);
	assert_mode("sysfs/cpu31/cache/index0/size", 0444);
}

static void what_was_there_is_removed(void **state)
{
	struct ms_error err;
	char path[128];

	assert_int_equal(sysview_remove(JOB, &err), 0);
	/* Without a kept tree of the machine only the topology is missing. */
	make();
	assert_file("cpu/online", "31-34\n");
	assert_false(unit_exists(VIEW "cpu/cpu31/topology"));
	/* A tree of a former job with the same number is replaced. */
	keep(false);
	make();
	assert_true(unit_exists(VIEW "cpu/cpu31/topology"));
	/* A link in the tree is removed, but nothing that it leads to. */
	unit_file("outside/file", "stays");
	snprintf(path, sizeof(path), "%s/" VIEW "cpu/link", unit_dir);
	assert_int_equal(symlink("../../../outside", path), 0);
	assert_int_equal(sysview_remove(JOB, &err), 0);
	assert_false(unit_exists("jobs/7.sys"));
	make();
	assert_int_equal(sysview_remove_all(&err), 0);
	assert_false(unit_exists("jobs/7.sys"));
	assert_string_equal(unit_read("outside/file"), "stays");
	assert_string_equal(unit_read("sysfs/cpu31/topology/core_id"), "15\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cpus_are_those_of_the_lwk, setup, teardown),
		cmocka_unit_test_setup_teardown(nodes_are_those_with_its_cpus_or_memory, setup,
						teardown),
		cmocka_unit_test_setup_teardown(others_may_read_it_and_nobody_may_write, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_machine_is_kept_until_it_is_another, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_was_there_is_removed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
