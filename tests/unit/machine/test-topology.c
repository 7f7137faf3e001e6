// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests loading topologies from files, and the choice of the system nodes. */
#include "unit/machine.h"

#include "machine/topology_load.h"

static void a_file_that_is_no_topology(void **state)
{
	static const struct {
		const char *name, *content, *says;
	} bad[] = {
		{ "text", "no XML", "expected an hwloc topology (XML, as lstopo writes it)" },
		{ "empty", "", "expected an hwloc topology" },
		{ "png", "\x89PNG\r\n\x1a\n", "expected an hwloc topology" },
		{ "svg", "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>",
		  "expected an hwloc topology" },
		{ "cut", "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Mach",
		  "expected an hwloc topology" },
		{ "bare", "<?xml version=\"1.0\"?><topology version=\"2.0\"></topology>",
		  "expected an hwloc topology" },
		{ "machine",
		  "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\" "
		  "os_index=\"0\" cpuset=\"0x0\" complete_cpuset=\"0x0\" allowed_cpuset=\"0x0\" "
		  "nodeset=\"0x0\" complete_nodeset=\"0x0\" allowed_nodeset=\"0x0\"/></topology>",
		  "" },
		{ "cpus",
		  "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\" "
		  "os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" allowed_cpuset=\"0x1\" "
		  "nodeset=\"0x0\" complete_nodeset=\"0x0\" allowed_nodeset=\"0x0\">"
		  "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
		  "nodeset=\"0x0\" complete_nodeset=\"0x0\"/></object></topology>",
		  "" },
		{ "numbers",
		  "<topology version=\"2.0\">\n<object type=\"Machine\" "
		  "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\">\n"
		  "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
		  "nodeset=\"0x1\" complete_nodeset=\"0x1\"/>\n"
		  "<object type=\"PU\" os_index=\"1\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
		  "nodeset=\"0x1\" complete_nodeset=\"0x1\"/>\n</object>\n</topology>\n",
		  "expected CPUs and NUMA nodes with the numbers that the machine has" },
	};
	hwloc_topology_t topology;
	struct ms_error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *path = unit_file(bad[i].name, "%s", bad[i].content);

		if (topology_load_xml(path, &topology, &err) == 0)
			fail_msg("taken for a topology: %s", bad[i].name);
		assert_ptr_equal(strstr(err.text, path), err.text);
		assert_has(err.text, bad[i].says);
	}
}

/* XML at which hwloc 2.9 ends by a signal. A later one may refuse it. */
static void a_file_that_hwloc_does_not_survive(void **state)
{
	const char *path =
		unit_file("untyped", "%s",
			  "<topology version=\"2.0\">\n"
			  "  <object cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\">\n"
			  "  </object>\n"
			  "</topology>\n");
	hwloc_topology_t topology;
	struct ms_error err;

	assert_int_equal(topology_load_xml(path, &topology, &err), -1);
	assert_ptr_equal(strstr(err.text, path), err.text);
	assert_has(err.text, "expected an hwloc topology (XML, as lstopo writes it), found");
}

/* XML whose numbers have hwloc make sets of gigabytes, which takes the machine's memory. */
static void a_file_of_which_hwloc_makes_gigabytes(void **state)
{
	const char *path =
		unit_file("huge-number", "%s",
			  "<topology version=\"2.0\">\n"
			  "<object type=\"Machine\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
			  "nodeset=\"0x1\" complete_nodeset=\"0x1\">\n"
			  "<object type=\"NUMANode\" os_index=\"4294967294\" cpuset=\"0x1\" "
			  "complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"/>\n"
			  "<object type=\"PU\" os_index=\"4294967294\" cpuset=\"0x1\" "
			  "complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"/>\n"
			  "</object>\n"
			  "</topology>\n");
	hwloc_topology_t topology;
	struct ms_error err;

	assert_int_equal(topology_load_xml(path, &topology, &err), -1);
	assert_has(err.text, "expected an hwloc topology");
}

static void what_is_no_file(void **state)
{
	hwloc_topology_t topology;
	struct ms_error err;
	const char *path;

	assert_int_equal(topology_load_xml("/nowhere.xml", &topology, &err), -1);
	assert_has(err.text, "/nowhere.xml: No such file");
	assert_int_equal(topology_load_xml(unit_dir, &topology, &err), -1);
	assert_has(err.text, "expected a regular file with an hwloc topology");
	assert_int_equal(topology_load_xml("/dev/zero", &topology, &err), -1);
	assert_has(err.text, "/dev/zero: expected a regular file");
	path = unit_file("fifo", "%s", "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(topology_load_xml(path, &topology, &err), -1);
	assert_has(err.text, "expected a regular file");
	path = unit_file("huge", "%s", "");
	assert_int_equal(truncate(path, 1L << 40), 0);
	assert_int_equal(topology_load_xml(path, &topology, &err), -1);
	assert_has(err.text, "of at most 64 MB, found 1048576 MB");
}

static void assert_system_nodes(struct machine *m, const char *expected)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();

	if (topology_system_nodes(m->topology, m->config, nodes, &m->err) < 0)
		fail_msg("%s", m->err.text);
	assert_list(nodes, expected);
	hwloc_bitmap_free(nodes);
}

static void nodes_of_the_os_cpus_are_the_systems(void **state)
{
	struct machine m;

	machine_load(&m, "xeon-2s-smt.xml");
	assert_system_nodes(&m, "0");
	machine_os_cpus(&m, "0,8"); /* one CPU on each node: a node must be left for jobs */
	assert_system_nodes(&m, "0");
	machine_system_nodes(&m, "1");
	assert_system_nodes(&m, "1");
	machine_system_nodes(&m, "");
	assert_system_nodes(&m, "");
	machine_system_nodes(&m, "0-2");
	assert_int_equal(
		topology_system_nodes(m.topology, m.config, m.config->system_nodes, &m.err), -1);
	assert_has(m.err.text, "SystemNodes=); this machine has only 0-1");
	machine_free(&m);

	machine_load(&m, "epyc-7451-8n.xml");
	machine_os_cpus(&m, "0,6");
	assert_system_nodes(&m, "0-1");
	machine_free(&m);
	/* Assistant cores are on two of the four nodes. */
	machine_load(&m, "a64fx.xml");
	machine_os_cpus(&m, "0-1");
	assert_system_nodes(&m, "0-1");
	machine_free(&m);
	/* MCDRAM is left for jobs. */
	machine_load(&m, "knl-snc4-flat.xml");
	assert_system_nodes(&m, "0");
	machine_free(&m);
}

static void a_machine_with_one_node_keeps_none(void **state)
{
	struct machine m;

	machine_make(&m, "pack:1 [numa(memory=1073741824)] core:4 pu:2");
	assert_system_nodes(&m, "");
	machine_free(&m);
	machine_load(&m, "offline-threads.xml");
	assert_system_nodes(&m, "");
	machine_free(&m);
}

static void of_nodes_that_numa_fake_makes_it_is_the_first(void **state)
{
	struct machine m;

	machine_make(&m, "pack:1 [numa(memory=1073741824)] [numa(memory=1073741824)] "
			 "[numa(memory=1073741824)] core:4 pu:1");
	assert_system_nodes(&m, "0");
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_no_topology),
		cmocka_unit_test(a_file_that_hwloc_does_not_survive),
		cmocka_unit_test(a_file_of_which_hwloc_makes_gigabytes),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(nodes_of_the_os_cpus_are_the_systems),
		cmocka_unit_test(a_machine_with_one_node_keeps_none),
		cmocka_unit_test(of_nodes_that_numa_fake_makes_it_is_the_first),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
