// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what 'lwkctl check' finds about the node itself: vulnerabilities of its CPUs, and what its
 * kernel lacks.
 */
#include "unit/node/checked.h"

/* Looks at a node whose CPUs have this vulnerability; Linux describes it with this text. */
static void look_at_vulnerability(const char *name, const char *text)
{
	struct checking checking = { .hear = hear, .config = &config };

	unit_file("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
	unit_file("sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n");
	unit_file(name, "%s\n", text);
	memset(&heard, 0, sizeof(heard));
	check_vulnerabilities(&checking);
}

#define NEW "sys/devices/system/cpu/vulnerabilities/new_one"

static void a_vulnerability_that_linux_mitigates_and_the_lwk_does_not(void **state)
{
	look_at_vulnerability(NEW, "Mitigation: something");
	assert_has(heard.problems, "new_one (Mitigation: something); LWK jobs are refused");
	assert_has(heard.problems, "Vulnerabilities=accept");
	assert_null(strstr(heard.problems, "meltdown"));
	look_at_vulnerability(NEW, "KVM: Mitigation: VMX disabled");
	assert_int_equal(heard.n_problems, 1);
	config.accept_vulnerabilities = true;
	look_at_vulnerability(NEW, "Mitigation: something");
	assert_string_equal(heard.problems, "");
	assert_has(heard.notes, "new_one (Mitigation: something); Vulnerabilities=accept has");
}

static void a_vulnerability_that_linux_does_nothing_about(void **state)
{
	look_at_vulnerability(NEW, "Vulnerable");
	assert_int_equal(heard.n_fine, 1);
	look_at_vulnerability(NEW, "Not affected");
	assert_int_equal(heard.n_fine, 1);
}

static void a_kernel_that_does_not_tell_of_vulnerabilities(void **state)
{
	struct checking checking = { .hear = hear, .config = &config };

	memset(&heard, 0, sizeof(heard));
	check_vulnerabilities(&checking);
	assert_has(heard.notes, "does not tell which vulnerabilities");
}

/* ---- what the kernel lacks ---- */

static void look_at_cgroups(const char *mounts, const char *plugin)
{
	char *slurm = NULL;
	struct checking checking = { .hear = hear };

	assert_true(asprintf(&slurm, "%sCgroupPlugin = %s\n", good_slurm, plugin) > 0);
	checking.slurm = slurm;
	unit_file("proc/self/mounts", "%s", mounts);
	memset(&heard, 0, sizeof(heard));
	check_cgroups(&checking);
	free(slurm);
}

static void two_versions_of_cgroups(void **state)
{
	static const char version_1[] = "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"
					"cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n";
	static const char version_2[] = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
	static const char mixed[] = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
				    "cgroup /mnt/memory cgroup rw,memory 0 0\n";

	look_at_cgroups(version_1, "autodetect");
	assert_int_equal(heard.n_fine, 1);
	look_at_cgroups(version_1, "cgroup/v2");
	assert_has(heard.problems, "CgroupPlugin=cgroup/v2, but this node uses cgroup version 1");
	unit_file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory pids\n");
	look_at_cgroups(version_2, "autodetect");
	assert_int_equal(heard.n_fine, 1);
	look_at_cgroups(version_2, "cgroup/v1");
	assert_has(heard.problems, "CgroupPlugin=cgroup/v1, but this node uses cgroup version 2");
	assert_has(heard.problems, "CgroupPlugin=autodetect");
	look_at_cgroups(mixed, "autodetect");
	assert_has(heard.problems, "version 1 has these controllers: memory;");
	assert_has(heard.problems, "systemd.unified_cgroup_hierarchy=1");
}

static void tricks_that_are_off(void **state)
{
	struct checking checking = { .hear = hear };

	memset(&heard, 0, sizeof(heard));
	check_tricks(&checking);
	assert_int_equal(heard.n_fine + heard.n_notes, 0); /* lwkpart is not loaded */
	unit_file("sys/module/lwkpart/parameters/tricks_off", "\n");
	check_tricks(&checking);
	assert_int_equal(heard.n_fine, 1);
	unit_file("sys/module/lwkpart/parameters/tricks_off", "calls,new-one\n");
	check_tricks(&checking);
	assert_has(heard.notes, "internals: calls,new-one; delegated calls take longer -> ");
}

static void what_the_kernel_is_too_old_for(void **state)
{
	struct checking checking = { .hear = hear };

	memset(&heard, 0, sizeof(heard));
	check_age(&checking);
	unit_file("sys/module/lwkpart/parameters/lacks", "\n");
	check_age(&checking);
	assert_int_equal(heard.n_fine + heard.n_notes, 0);
	unit_file("sys/module/lwkpart/parameters/lacks", "file-mappings,\n");
	check_age(&checking);
	assert_has(heard.notes, "too old for file-mappings, programs that map a disk's file");
}

static void fred(void **state)
{
	struct checking checking = { .hear = hear };

	memset(&heard, 0, sizeof(heard));
	unit_file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme lkgs\n\n");
	check_fred(&checking);
	assert_int_equal(heard.n_problems, 0);
	unit_file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu fred lkgs\n\n");
	check_fred(&checking);
	assert_has(heard.problems, "Linux uses FRED");
	assert_has(heard.problems, "boot with fred=off");
}

static void numbers_of_cpus_with_holes(void **state)
{
	static const struct {
		const char *text;
		unsigned problems;
	} cases[] = { { "pu:4", 0 }, { "pack:2 core:2 pu:1(indexes=0,2,4,6)", 1 } };
	struct checking checking = { .hear = hear };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		hwloc_topology_t topology;

		snprintf(path, sizeof(path), "%s/topology.xml", state_dir);
		assert_int_equal(hwloc_topology_init(&topology), 0);
		assert_int_equal(hwloc_topology_set_synthetic(topology, cases[i].text), 0);
		assert_int_equal(hwloc_topology_load(topology), 0);
		assert_int_equal(hwloc_topology_export_xml(topology, path, 0), 0);
		hwloc_topology_destroy(topology);
		memset(&heard, 0, sizeof(heard));
		check_cpu_numbers(&checking);
		assert_int_equal(heard.n_problems, cases[i].problems);
	}
	assert_has(heard.problems, "the CPUs on-line are 0,2,4,6: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_vulnerability_that_linux_mitigates_and_the_lwk_does_not),
		TEST(a_vulnerability_that_linux_does_nothing_about),
		TEST(a_kernel_that_does_not_tell_of_vulnerabilities),
		TEST(two_versions_of_cgroups),
		TEST(tricks_that_are_off),
		TEST(what_the_kernel_is_too_old_for),
		TEST(fred),
		TEST(numbers_of_cpus_with_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
