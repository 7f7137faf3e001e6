// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests what a node can lend: the kernel's files, and what a driver has lent already. */
#include "modeswitch/config.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"
#include "unit/fake.h"
#include "unit/machine.h"

#include <errno.h>

#include "base/files.h"
#include "modeswitch/job.h"

#define TESTBED "pack:2 [numa(memory=2147483648)] core:4 pu:1"
#define NOBODY MS_NO_INSTANCE

static struct machine m;

static int setup(void **state)
{
	if (unit_setup(state) < 0 || fake_begin() < 0)
		return -1;
	machine_make(&m, TESTBED);
	files_root = unit_dir;
	unit_file("sys/devices/system/cpu/online", "0-3,6-7\n");
	unit_file("proc/meminfo", "MemAvailable: %lu kB\n", 3 * GB >> 10);
	unit_file("proc/sys/vm/min_free_kbytes", "0\n");
	unit_file("sys/devices/system/node/node0/meminfo",
		  "Node 0 MemTotal: 1048576 kB\nNode 0 SUnreclaim: 1024 kB\n"
		  "Node 0 KernelStack: 2048 kB\nNode 0 PageTables: 4096 kB\n"
		  "Node 0 Mlocked: 8192 kB\n");
	fake->n = 4;
	fake->lent[0] = (struct ms_lent){ .is_cpu = true, .cpu = 4, .instance = 0 };
	fake->lent[1] = (struct ms_lent){ .is_cpu = true, .cpu = 5, .instance = 1 };
	fake->lent[2] = (struct ms_lent){ .node = 1, .bytes = 256 * MB, .instance = 0 };
	fake->lent[3] = (struct ms_lent){ .node = 0, .bytes = 128 * MB, .instance = 1 };
	return 0;
}

static int teardown(void **state)
{
	machine_free(&m);
	fake_end();
	return unit_teardown_root(state);
}

static struct supply *supply_of(int dev, int warm)
{
	struct supply *supply;
	struct ms_error err;

	if (supply_of_node(m.topology, &fake_driver, dev, warm, &supply, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(supply->n_nodes, 2);
	return supply;
}

static void what_cannot_move_is_not_there(void **state)
{
	struct supply *supply = supply_of(-1, NOBODY);

	assert_list(supply->online_cpus, "0-3,6-7");
	assert_list(supply->lent_cpus, "");
	assert_int_equal(supply->bytes, 3 * GB - 128 * MB);
	assert_int_equal(supply->nodes[0].bytes, GB - 15 * MB);
	/* Node 1 has no file: all of it is lent. */
	assert_int_equal(supply->nodes[1].bytes, 0);
	supply_free(supply);
	unit_file("sys/devices/system/node/node1/meminfo",
		  "Node 1 MemTotal: 1024 kB\nNode 1 SUnreclaim: 1025 kB\n");
	supply = supply_of(-1, NOBODY);
	assert_int_equal(supply->nodes[1].bytes, 0);
	supply_free(supply);
}

static void what_is_lent_is_told_as_lent(void **state)
{
	struct supply *supply = supply_of(5, NOBODY);

	assert_list(supply->online_cpus, "0-7");
	assert_list(supply->lent_cpus, "4-5");
	assert_int_equal(supply->bytes, 3 * GB - 128 * MB);
	assert_int_equal(supply->nodes[0].bytes, GB - 15 * MB);
	supply_free(supply);
}

static void a_warm_instance_counts_as_returned(void **state)
{
	struct supply *supply = supply_of(5, 0);

	assert_list(supply->online_cpus, "0-7");
	assert_list(supply->lent_cpus, "5");
	assert_int_equal(supply->bytes, 3 * GB + 128 * MB);
	assert_int_equal(supply->nodes[0].bytes, GB - 15 * MB);
	assert_int_equal(supply->nodes[1].bytes, 256 * MB);
	supply_free(supply);
	supply = supply_of(5, 1);
	assert_list(supply->lent_cpus, "4");
	assert_int_equal(supply->nodes[0].bytes, GB - 15 * MB + 128 * MB);
	assert_int_equal(supply->nodes[1].bytes, 0);
	supply_free(supply);
}

static int no_ledger(int dev, struct ms_lent **lent, size_t *n)
{
	return -EIO;
}

static void what_cannot_be_read_is_an_error(void **state)
{
	struct driver broken = fake_driver;
	struct supply *supply;
	struct ms_error err;

	broken.ledger = no_ledger;
	assert_int_equal(supply_of_node(m.topology, &broken, 5, NOBODY, &supply, &err), -1);
	assert_has(err.text, "the ledger cannot be read: Input/output error");
	/* Without a device there is no ledger to ask for. */
	assert_int_equal(supply_of_node(m.topology, &broken, -1, NOBODY, &supply, &err), 0);
	supply_free(supply);
	unit_file("sys/devices/system/cpu/online", "all\n");
	assert_int_equal(supply_of_node(m.topology, &fake_driver, 5, NOBODY, &supply, &err), -1);
	assert_has(err.text, "/sys/devices/system/cpu/online cannot be read");
}

static void a_plan_is_made_of_a_file(void **state)
{
	char path[128];

	files_root = "";
	snprintf(path, sizeof(path), "%s/machine.xml", unit_dir);
	assert_int_equal(ms_parse_cpus("4-7", m.request.cpus, &m.err), 0);
	m.request.memory = GB;
	assert_int_equal(ms_plan_make(m.config, &m.request, path, &m.plan, &m.err), 0);
	assert_list(m.plan->lwk_cpus, "5-7");
	ms_plan_free(m.plan);
	m.plan = NULL;
	m.request.memory = 5 * GB;
	assert_int_equal(ms_plan_make(m.config, &m.request, path, &m.plan, &m.err), -1);
	assert_has(m.err.text, "this machine can give away 4 GB");
	assert_int_equal(ms_plan_make(m.config, &m.request, "/nosuch.xml", &m.plan, &m.err), -1);
	assert_has(m.err.text, "/nosuch.xml");
	strcpy(m.request.image, "nosuch");
	assert_int_equal(ms_plan_make(m.config, &m.request, path, &m.plan, &m.err), -1);
	assert_has(m.err.text, "no LWK image \"nosuch\"");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_cannot_move_is_not_there),	  TEST(what_is_lent_is_told_as_lent),
		TEST(a_warm_instance_counts_as_returned), TEST(what_cannot_be_read_is_an_error),
		TEST(a_plan_is_made_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
