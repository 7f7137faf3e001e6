// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests plans on machines that hwloc makes up, exported and read back as XML. */
#include "modeswitch/plan.h"
#include "unit/allocation.h"
#include "unit/machine.h"

/* Two packages with four cores and 2 GB each, as in the test bed. */
#define TESTBED "pack:2 [numa(memory=2147483648)] core:4 pu:1"
/* A KNL in SNC-4: four nodes; a two-socket EPYC with NPS4 and two threads per core. */
#define KNL "pack:1 group:4 [numa(memory=25769803776)] core:17 pu:4"
#define EPYC "pack:2 group:4 [numa(memory=68719476736)] core:8 pu:2"

static void one_cpu_stays_with_linux(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_list(m.plan->linux_cpus, "4");
	assert_list(m.plan->lwk_cpus, "5-7");
	assert_int_equal(m.plan->n_cpus, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(m.plan->cpus[i].cpu, 5 + i);
		assert_int_equal(m.plan->cpus[i].node, 1);
		assert_int_equal(m.plan->cpus[i].doorbell_cpu, 4);
	}
	assert_int_equal(m.plan->bytes, GB - 64 * MB);
	assert_int_equal(memory_of(&m, 1), GB - 64 * MB);
	assert_int_equal(memory_of(&m, 0), 0);
	machine_free(&m);
}

static void cpus_of_the_system_stay_and_count(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	assert_int_equal(plan(&m, "0-3", GB), 0);
	assert_list(m.plan->linux_cpus, "0");
	assert_list(m.plan->lwk_cpus, "1-3");
	hwloc_bitmap_set(m.config->os_cpus, 2);
	assert_int_equal(plan(&m, "1-3", GB), 0);
	assert_list(m.plan->linux_cpus, "2");
	assert_list(m.plan->lwk_cpus, "1,3");
	m.config->linux_cpus = 2;
	assert_int_equal(plan(&m, "1-4", GB), 0);
	assert_list(m.plan->linux_cpus, "1-2");
	assert_list(m.plan->lwk_cpus, "3-4");
	machine_free(&m);
}

static void doorbells_go_to_the_nearest_os_cpu(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	m.config->linux_cpus = 0;
	hwloc_bitmap_set_range(m.config->os_cpus, 4, 5);
	assert_int_equal(plan(&m, "2-3,6-7", GB), 0);
	assert_list(m.plan->linux_cpus, "");
	/* CPUs 2 and 3 ring CPU 0 of their own node, 6 and 7 one each of 4 and 5. */
	assert_int_equal(m.plan->cpus[0].doorbell_cpu, 0);
	assert_int_equal(m.plan->cpus[1].doorbell_cpu, 0);
	assert_int_equal(m.plan->cpus[2].doorbell_cpu, 4);
	assert_int_equal(m.plan->cpus[3].doorbell_cpu, 5);
	/* An off-line CPU gets no doorbells. */
	hwloc_bitmap_clr(m.supply->online_cpus, 4);
	assert_int_equal(plan(&m, "6-7", GB), 0);
	assert_int_equal(m.plan->cpus[0].doorbell_cpu, 5);
	/* A queue costs more than a long way, so CPU 7 does not share CPU 5. */
	assert_int_equal(m.plan->cpus[1].doorbell_cpu, 0);
	machine_free(&m);
}

static void memory_follows_the_cpus(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	assert_int_equal(plan(&m, "3-7", 1064 * MB), 0); /* 3 stays; 4 on node 1 */
	assert_int_equal(memory_of(&m, 1), 1000 * MB);
	assert_int_equal(plan(&m, "0-7", 1064 * MB), 0); /* 3 and 4 of 7 */
	assert_int_equal(memory_in_all(&m), 1000 * MB);
	/*
	 * The shares of 500 large pages are 214.3 and 285.7. The nearest node gets what rounding
	 * leaves.
	 */
	assert_int_equal(memory_of(&m, 0), 214 * 2 * MB);
	assert_int_equal(memory_of(&m, 1), 286 * 2 * MB);
	assert_int_equal(plan(&m, "4-7", 1064 * MB + 12345), 0);
	assert_int_equal(m.plan->bytes, 1000 * MB);
	assert_int_equal(memory_in_all(&m) % (2 * MB), 0);
	/* The job's memory is more than its node has. */
	assert_int_equal(plan(&m, "4-7", 3 * GB), 0);
	assert_int_equal(memory_of(&m, 1), 2 * GB);
	assert_int_equal(memory_in_all(&m), 3 * GB - 64 * MB);
	machine_free(&m);
}

static void all_nodes_are_there_for_what_is_missing(void **state)
{
	struct machine m;

	machine_make(&m, KNL);
	assert_int_equal(plan(&m, "68-75", GB), 0);
	assert_int_equal(m.plan->n_memory, 4);
	assert_int_equal(m.plan->memory[0].node, 1);
	assert_int_equal(m.plan->memory[0].bytes, GB - 64 * MB);
	assert_int_equal(memory_in_all(&m), GB - 64 * MB);
	machine_free(&m);
}

static void large_machines(void **state)
{
	struct machine m;

	machine_make(&m, KNL);
	assert_int_equal(plan(&m, "0-271", 90 * GB), 0);
	assert_int_equal(m.plan->n_cpus, 268); /* CPU 0's core stays */
	for (unsigned node = 0; node < 4; node++)
		assert_true(memory_of(&m, node) > 21 * GB);
	assert_int_equal(memory_in_all(&m), m.plan->bytes);
	machine_free(&m);
	machine_make(&m, EPYC);
	m.config->linux_cpus = 2;
	assert_int_equal(plan(&m, "64-127", 200 * GB), 0);
	assert_list(m.plan->linux_cpus, "64-65");
	assert_int_equal(memory_of(&m, 0), 0);
	assert_int_equal(memory_of(&m, 3), 0);
	assert_int_equal(memory_in_all(&m), 200 * GB - 64 * MB);
	for (size_t i = 0; i < m.plan->n_cpus; i++) {
		/* Both servers are on one node and get the same number of doorbells. */
		assert_int_equal(m.plan->cpus[i].doorbell_cpu, 64 + i % 2);
		assert_int_equal(m.plan->cpus[i].node, m.plan->cpus[i].cpu / 16);
	}
	machine_free(&m);
}

static void refusals_say_what_to_do(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	assert_int_equal(plan(&m, "3", GB), -1);
	assert_string_equal(
		m.err.text,
		"--lwk: expected at least 2 CPUs in the allocation (1 stays with Linux for "
		"the batch script and the proxies), found 1 (CPU 3); ask for more, for "
		"example with -c 2");
	assert_int_equal(plan(&m, "0", GB), -1);
	m.config->linux_cpus = 3;
	assert_int_equal(plan(&m, "5-7", GB), -1);
	assert_has(m.err.text, "at least 4 CPUs in the allocation (3 stay with Linux");
	m.config->linux_cpus = 0;
	assert_int_equal(plan(&m, "3", GB), 0);
	assert_int_equal(plan(&m, "0", GB), -1);
	assert_has(m.err.text, "at least 2 CPUs");
	m.config->linux_cpus = 1;
	assert_int_equal(plan(&m, "6-8", GB), -1);
	assert_has(m.err.text, "CPUs of this machine (0-7) in the allocation, found 6-8");
	assert_int_equal(plan(&m, "4-7", 128 * MB - 1), -1);
	assert_has(m.err.text, "at least 128 MB of memory");
	assert_has(m.err.text, "--mem=128M");
	assert_int_equal(plan(&m, "4-7", 128 * MB), 0);
	assert_int_equal(plan(&m, "4-7", 4 * GB + 64 * MB), 0);
	assert_int_equal(plan(&m, "4-7", 4 * GB + 66 * MB), -1);
	assert_has(m.err.text,
		   "expected 4098 MB of memory for the LWK; this machine can give away 4 GB");
	strcpy(m.request.image, "nosuch");
	assert_int_equal(plan(&m, "4-7", GB), -1);
	assert_has(m.err.text, "no LWK image \"nosuch\" here; there are: lwk");
	machine_free(&m);
}

static void what_is_lent_or_off_line_is_not_planned(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	hwloc_bitmap_set(m.supply->lent_cpus, 6);
	assert_int_equal(plan(&m, "4-7", GB), -1);
	assert_has(m.err.text, "CPUs 6 are lent");
	assert_int_equal(plan(&m, "4-5,7", GB), 0);
	hwloc_bitmap_clr(m.supply->online_cpus, 7);
	assert_int_equal(plan(&m, "4-5,7", GB), -1);
	assert_has(m.err.text, "off-line (on-line are 0-6)");
	/* Other jobs have memory, so the nodes have less, and so has the machine. */
	m.supply->nodes[1].bytes = 512 * MB;
	m.supply->bytes = 2 * GB;
	assert_int_equal(plan(&m, "4-5", GB), 0);
	assert_int_equal(memory_of(&m, 1), 512 * MB);
	assert_int_equal(memory_of(&m, 0), 448 * MB);
	assert_int_equal(plan(&m, "4-5", 2 * GB + 64 * MB), 0);
	assert_int_equal(plan(&m, "4-5", 2 * GB + 66 * MB), -1);
	assert_has(m.err.text, "this machine can give away 2 GB");
	machine_free(&m);
}

static void the_environment_cannot_change_the_machine(void **state)
{
	struct machine m;

	setenv("HWLOC_SYNTHETIC", "pack:1 core:1 pu:1", 1);
	setenv("HWLOC_COMPONENTS", "-xml,stop", 1);
	setenv("HWLOCX", "stays", 1);
	machine_make(&m, TESTBED);
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_null(getenv("HWLOC_SYNTHETIC"));
	assert_null(getenv("HWLOC_COMPONENTS"));
	assert_non_null(getenv("HWLOCX"));
	machine_free(&m);
}

static void proxies_have_limits(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	/* The proxies run on the assistant CPU, with memory near it and of the system node. */
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_list(m.plan->proxies.cpus, "4");
	assert_list(m.plan->proxies.nodes, "0-1");
	assert_int_equal(m.plan->proxies.memory, 128 * MB);
	assert_int_equal(m.plan->proxies.cpu_percent, 0);
	assert_int_equal(m.plan->proxies.weight_percent, 0);
	assert_int_equal(plan(&m, "1-3", GB), 0);
	assert_list(m.plan->proxies.nodes, "0");
	/* ProxyMemoryPerGB= is added for each whole gigabyte. */
	assert_int_equal(plan(&m, "4-7", 2 * GB), 0);
	assert_int_equal(m.plan->proxies.memory, 132 * MB);
	m.config->proxy_memory_max = 130 * MB;
	assert_int_equal(plan(&m, "4-7", 2 * GB), 0);
	assert_int_equal(m.plan->proxies.memory, 130 * MB);
	/* The proxies run on the OS CPUs, with a part of their time. */
	m.config->linux_cpus = 0;
	hwloc_bitmap_set_range(m.config->os_cpus, 0, 2);
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_list(m.plan->proxies.cpus, "0-2");
	assert_list(m.plan->proxies.nodes, "0");
	assert_int_equal(m.plan->proxies.cpu_percent, 150);
	assert_int_equal(m.plan->proxies.weight_percent, 5);
	machine_free(&m);
}

static void limits_that_cannot_be(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	m.request.proxy_memory = GB;
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_int_equal(m.plan->proxies.memory, GB);
	m.request.proxy_memory = 2 * GB;
	assert_int_equal(plan(&m, "4-7", GB), -1);
	assert_has(m.err.text, "expected --lwk-proxy-mem of 2 GB; this site's maximum");
	m.config->proxy_memory_max = 8 * GB;
	m.request.proxy_memory = 5 * GB;
	assert_int_equal(plan(&m, "4-7", GB), -1);
	assert_has(m.err.text, "this machine has only 4 GB");
	m.request.proxy_memory = 0;
	m.config->proxy_pids = 5;
	assert_int_equal(plan(&m, "4-7", GB), -1);
	assert_has(m.err.text, "ProxyPids=5");
	machine_free(&m);
}

/* A supply and a topology that were read at different times. */
static void what_the_topology_lacks_is_not_planned(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	m.supply->nodes[0].node = 99;
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_int_equal(m.plan->n_memory, 1);
	assert_memory(&m, "1:960");
	machine_free(&m);
	machine_load(&m, "offline-threads.xml");
	hwloc_bitmap_set(m.supply->online_cpus, 2);
	assert_int_equal(plan(&m, "0,2,4", GB), -1);
	assert_has(m.err.text, "CPUs 0,2,4 on-line, found that some are off-line");
	machine_free(&m);
}

/* The CPU's package has two nodes of one kind. */
static void nodes_of_one_cpu_give_alike(void **state)
{
	struct machine m;

	machine_make(&m, "pack:2 [numa(memory=2147483648)] [numa(memory=2147483648)] core:4 pu:1");
	m.config->linux_cpus = 0;
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_memory(&m, "2:480 3:480");
	/* Rounding leaves three of 1003 pages on four nodes, which come from three nodes. */
	machine_ask_numa(&m, "interleave");
	machine_system_nodes(&m, "");
	m.config->linux_memory = 0;
	assert_int_equal(plan(&m, "1-2,4-7", 1003 * 2 * MB), 0);
	for (unsigned node = 0; node < 4; node++)
		assert_in_range(memory_of(&m, node), 250 * 2 * MB, 251 * 2 * MB);
	assert_int_equal(memory_in_all(&m), 1003 * 2 * MB);
	machine_free(&m);
}

static void memory_of_chosen_nodes(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	/* All nodes are chosen, so the machine is what lacks memory. */
	machine_ask_numa(&m, "bind=0-1");
	assert_int_equal(plan(&m, "4-7", 5 * GB), -1);
	assert_has(m.err.text, "this machine can give away 4 GB");
	machine_ask_numa(&m, "bind=1");
	assert_int_equal(plan(&m, "4-7", 5 * GB), -1);
	assert_has(m.err.text, "from the NUMA nodes 1 alone");
	machine_free(&m);
}

static void a_driver_without_a_grain_has_large_pages(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	strcpy(m.config->images[0].driver, "lwkpart");
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_int_equal(m.plan->bytes, GB - 64 * MB);
	machine_free(&m);
}

static void limits_that_just_suffice(void **state)
{
	struct machine m;

	machine_make(&m, TESTBED);
	m.config->proxy_memory_max = 8 * GB;
	m.request.proxy_memory = 4 * GB;
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_int_equal(m.plan->proxies.memory, 4 * GB);
	m.request.proxy_memory = 0;
	m.config->proxy_pids = 6;
	assert_int_equal(plan(&m, "4-7", GB), 0);
	assert_int_equal(m.plan->proxies.pids, 6);
	/* A CPU of a system node needs no other system node. */
	machine_system_nodes(&m, "0-1");
	assert_int_equal(plan(&m, "1-3", GB), 0);
	assert_list(m.plan->proxies.nodes, "0");
	machine_free(&m);
}

static void allocations_that_fail(void **state)
{
	struct machine m;
	unsigned n = 0;
	int ret;

	machine_make(&m, TESTBED);
	assert_int_equal(plan(&m, "4-7", GB), 0);
	do {
		ms_plan_free(m.plan);
		m.plan = NULL;
		*m.err.text = '\0';
		allocation_fail(++n);
		ret = plan_decide(m.config, &m.request, m.topology, m.supply, &m.plan, &m.err);
		assert_int_equal(ret, allocation_failed() ? -1 : 0);
		if (ret < 0)
			assert_has(m.err.text, "out of memory");
	} while (ret < 0);
	allocation_fail(0);
	assert_in_range(n, 14, 30);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cpu_stays_with_linux),
		cmocka_unit_test(cpus_of_the_system_stay_and_count),
		cmocka_unit_test(doorbells_go_to_the_nearest_os_cpu),
		cmocka_unit_test(memory_follows_the_cpus),
		cmocka_unit_test(all_nodes_are_there_for_what_is_missing),
		cmocka_unit_test(large_machines),
		cmocka_unit_test(refusals_say_what_to_do),
		cmocka_unit_test(proxies_have_limits),
		cmocka_unit_test(limits_that_cannot_be),
		cmocka_unit_test(what_is_lent_or_off_line_is_not_planned),
		cmocka_unit_test(what_the_topology_lacks_is_not_planned),
		cmocka_unit_test(nodes_of_one_cpu_give_alike),
		cmocka_unit_test(memory_of_chosen_nodes),
		cmocka_unit_test(a_driver_without_a_grain_has_large_pages),
		cmocka_unit_test(limits_that_just_suffice),
		cmocka_unit_test(allocations_that_fail),
		cmocka_unit_test(the_environment_cannot_change_the_machine),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
