// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests plans on real machines; topologies/README tells where their descriptions come from. */
#include "modeswitch/config.h"
#include "unit/machine.h"

#define XEON "xeon-2s-smt.xml"	/* 2 nodes, 8 cores each; CPUs n and n+16 share a core */
#define EPYC "epyc-7451-8n.xml" /* 8 nodes, 2 x 3 cores each; CPUs n and n+48 share a core */
#define KNL "knl-snc4-flat.xml" /* nodes 0-3, MCDRAM 4-7, 16 cores each; n, n+64, +128, +192 */
#define A64FX "a64fx.xml"	/* 4 nodes; assistant cores 0 and 1 on the first two, 12-59 */
#define ONE_NODE "pack:1 [numa(memory=8589934592)] core:4 pu:1"
#define FAKE                                                                                       \
	"pack:1 [numa(memory=1073741824)] [numa(memory=1073741824)] [numa(memory=1073741824)] "    \
	"[numa(memory=1073741824)] core:4 pu:1"

/* ---- CPUs ---- */

static void whole_cores_stay_and_go(void **state)
{
	struct machine m;

	machine_load(&m, XEON);
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_list(m.plan->linux_cpus, "8,24");
	assert_list(m.plan->lwk_cpus, "9-11,25-27");
	assert_list(m.plan->idle_cpus, "");
	m.config->linux_cpus = 2;
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_list(m.plan->linux_cpus, "8,24");
	m.config->linux_cpus = 3;
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_list(m.plan->linux_cpus, "8-9,24-25");
	/* Linux has a thread of this core, so the core's other thread stays with Linux, too. */
	m.config->linux_cpus = 1;
	assert_int_equal(plan(&m, "0-3,16-19", GB), 0);
	assert_list(m.plan->linux_cpus, "0,16");
	machine_os_cpus(&m, "26");
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_list(m.plan->linux_cpus, "10,26");
	assert_list(m.plan->lwk_cpus, "8-9,11,24-25,27");
	machine_free(&m);
}

static void half_cores_stay_with_linux(void **state)
{
	struct machine m;

	machine_load(&m, XEON);
	assert_int_equal(plan(&m, "8-11,24-26", GB), 0);
	assert_list(m.plan->linux_cpus, "11");
	assert_list(m.plan->lwk_cpus, "8-10,24-26");
	/* A thread that is off-line disturbs no other. */
	hwloc_bitmap_clr(m.supply->online_cpus, 27);
	assert_int_equal(plan(&m, "8-11,24-26", GB), 0);
	assert_list(m.plan->linux_cpus, "8,24");
	assert_list(m.plan->lwk_cpus, "9-11,25-26");
	/* A thread that is lent to another LWK does disturb. */
	hwloc_bitmap_set(m.supply->online_cpus, 27);
	hwloc_bitmap_set(m.supply->lent_cpus, 27);
	assert_int_equal(plan(&m, "8-11,24-26", GB), 0);
	assert_list(m.plan->linux_cpus, "11");
	hwloc_bitmap_zero(m.supply->lent_cpus);

	assert_int_equal(plan(&m, "8-11", GB), -1);
	assert_string_equal(
		m.err.text,
		"--lwk: expected a whole core with all its 2 hardware threads, beside the "
		"whole cores of 1 CPU for the batch script and the proxies on Linux, "
		"found 4 CPUs (8-11); ask for whole cores, for example with "
		"--exclusive or -c 4");
	assert_int_equal(plan(&m, "8,24", GB), -1);
	assert_has(m.err.text, "found 2 CPUs (8,24); ask for whole cores");
	m.config->linux_cpus = 0;
	assert_int_equal(plan(&m, "8,24", GB), 0);
	machine_free(&m);
}

static void without_multithreading_siblings_idle(void **state)
{
	struct machine m;

	machine_load(&m, XEON);
	m.request.one_per_core = true;
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_list(m.plan->linux_cpus, "8,24");
	assert_list(m.plan->lwk_cpus, "9-11,25-27");
	assert_list(m.plan->idle_cpus, "25-27");
	assert_int_equal(m.plan->n_cpus, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(m.plan->cpus[i].cpu, 9 + i);
	machine_free(&m);
	machine_load(&m, KNL);
	m.request.one_per_core = true;
	assert_int_equal(plan(&m, "16-18,80-82,144-146,208-210", GB), 0);
	assert_list(m.plan->linux_cpus, "16,80,144,208");
	assert_list(m.plan->idle_cpus, "81-82,145-146,209-210");
	assert_int_equal(m.plan->n_cpus, 2);
	machine_free(&m);
}

static void off_line_cpus_and_cpus_that_are_not_there(void **state)
{
	struct machine m;

	machine_load(&m, "offline-threads.xml");
	assert_int_equal(plan(&m, "0,2,4", GB), -1);
	assert_has(
		m.err.text,
		"CPUs 0,2,4 on-line, found that some are off-line (on-line are 0-1,3-4,6,12,15)");
	assert_int_equal(plan(&m, "4,99", GB), -1);
	assert_has(m.err.text,
		   "CPUs of this machine (0-1,3-4,6,12,15) in the allocation, found 4,99");
	machine_free(&m);
	machine_load(&m, "hidden-nodes.xml");
	m.config->linux_cpus = 0;
	assert_int_equal(plan(&m, "0-1", GB), -1);
	assert_has(m.err.text, "CPU 1 is on no NUMA node");
	machine_free(&m);
}

/* ---- doorbells ---- */

static size_t served_by(const struct machine *m, unsigned cpu)
{
	size_t n = 0;

	for (size_t i = 0; i < m->plan->n_cpus; i++)
		n += m->plan->cpus[i].doorbell_cpu == cpu;
	return n;
}

static void doorbells_stay_on_the_node(void **state)
{
	struct machine m;

	machine_load(&m, XEON);
	m.config->linux_cpus = 0;
	machine_os_cpus(&m, "0,8,16,24");
	assert_int_equal(plan(&m, "1-3,17-19,9-11,25-27", GB), 0);
	for (size_t i = 0; i < m.plan->n_cpus; i++)
		assert_int_equal(m.plan->cpus[i].doorbell_cpu % 16 / 8,
				 m.plan->cpus[i].cpu % 16 / 8);
	for (unsigned cpu = 0; cpu <= 24; cpu += 8)
		assert_int_equal(served_by(&m, cpu), 3);
	machine_free(&m);
}

static void doorbells_stay_under_the_cache(void **state)
{
	struct machine m;

	/* Cores 6-8 share one L3 cache, 9-11 another. */
	machine_load(&m, EPYC);
	machine_os_cpus(&m, "6,9");
	assert_int_equal(plan(&m, "6-11,54-59", GB), 0);
	assert_list(m.plan->linux_cpus, "6,9,54,57");
	for (size_t i = 0; i < m.plan->n_cpus; i++)
		assert_int_equal(m.plan->cpus[i].doorbell_cpu % 48 / 9,
				 m.plan->cpus[i].cpu % 48 / 9);
	assert_int_equal(served_by(&m, 6), 2);
	assert_int_equal(served_by(&m, 54), 2);
	assert_int_equal(served_by(&m, 9), 2);
	assert_int_equal(served_by(&m, 57), 2);
	machine_free(&m);
}

static void assistant_cores_share_the_far_ones(void **state)
{
	struct machine m;

	machine_load(&m, A64FX);
	m.config->linux_cpus = 0;
	machine_os_cpus(&m, "0-1");
	assert_int_equal(plan(&m, "12-59", 8 * GB), 0);
	assert_int_equal(m.plan->n_cpus, 48);
	for (unsigned cpu = 12; cpu < 36; cpu++)
		assert_int_equal(doorbell_of(&m, cpu), cpu / 24);
	assert_int_equal(served_by(&m, 0), 24);
	assert_int_equal(served_by(&m, 1), 24);
	/* Both servers get an even share, so half of the CPUs ring the server of the other node. */
	assert_int_equal(plan(&m, "12-23", 8 * GB), 0);
	assert_int_equal(served_by(&m, 0), 6);
	assert_int_equal(served_by(&m, 1), 6);
	machine_free(&m);
}

static void a_near_socket_is_better_than_a_far_one(void **state)
{
	struct machine m;

	/* Nodes 0-3 are on the first package; OS cores on nodes 1 and 5, jobs on 2 and 6. */
	machine_load(&m, EPYC);
	m.config->linux_cpus = 0;
	machine_os_cpus(&m, "6,30,54,78");
	hwloc_bitmap_clr(m.supply->online_cpus, 0);
	assert_int_equal(plan(&m, "12-17,36-41", GB), -1); /* half cores all */
	assert_int_equal(plan(&m, "12-17,60-65,36-41,84-89", GB), 0);
	for (size_t i = 0; i < m.plan->n_cpus; i++)
		assert_int_equal(m.plan->cpus[i].doorbell_cpu % 48 / 24,
				 m.plan->cpus[i].cpu % 48 / 24);
	machine_free(&m);
}

/* ---- memory ---- */

static void local_memory_in_proportion(void **state)
{
	struct machine m;

	machine_load(&m, EPYC);
	m.config->linux_cpus = 0;
	assert_int_equal(plan(&m, "6-11,54-59,12-14,60-62", 964 * MB), 0);
	assert_memory(&m, "1:600 2:300");
	assert_false(memory_entry(&m, 1)->system || memory_entry(&m, 1)->remote);
	/* Memory that node 1 lacks comes from the job's other node, not from a third. */
	m.supply->nodes[1].bytes = 100 * MB;
	assert_int_equal(plan(&m, "6-11,54-59,12-14,60-62", 964 * MB), 0);
	assert_memory(&m, "1:100 2:800");
	machine_free(&m);
}

static void the_systems_memory_only_when_it_must_be(void **state)
{
	struct machine m;

	machine_load(&m, EPYC);
	m.config->linux_cpus = 0;
	/* CPUs of the system node have no other node near them. */
	assert_int_equal(plan(&m, "1-2,49-50,6-7,54-55", 1088 * MB), 0);
	assert_memory(&m, "0:512 1:512");
	assert_true(memory_entry(&m, 0)->system);
	assert_false(memory_entry(&m, 0)->remote || memory_entry(&m, 1)->system);
	/* A job on another node gets remote memory before the system node's. */
	for (unsigned i = 1; i < 7; i++)
		m.supply->nodes[i].bytes = 100 * MB;
	m.supply->nodes[7].bytes = 200 * MB;
	assert_int_equal(plan(&m, "6-7,54-55", 764 * MB), 0);
	assert_memory(&m, "1:100 2:100 3:100 4:100 5:100 6:100 7:100");
	assert_true(memory_entry(&m, 7)->remote);
	assert_int_equal(plan(&m, "6-7,54-55", 1064 * MB), 0);
	assert_memory(&m, "1:100 2:100 3:100 4:100 5:100 6:100 7:200 0:200");
	assert_true(memory_entry(&m, 0)->system && memory_entry(&m, 0)->remote);
	/* The site may say that there is no system node. */
	machine_system_nodes(&m, "");
	assert_int_equal(plan(&m, "6-7,54-55", 364 * MB), 0);
	assert_memory(&m, "1:100 0:200");
	assert_false(memory_entry(&m, 0)->system);
	machine_system_nodes(&m, "8");
	assert_int_equal(plan(&m, "6-7,54-55", GB), -1);
	assert_has(m.err.text, "NUMA nodes 8 for the system");
	machine_free(&m);
}

static void interleaved_memory_is_spread_evenly(void **state)
{
	struct machine m;

	machine_load(&m, EPYC);
	machine_numa(&m, "interleave");
	assert_int_equal(plan(&m, "6-7,54-55", 764 * MB), 0);
	assert_memory(&m, "1:100 2:100 3:100 4:100 5:100 6:100 7:100");
	assert_int_equal(plan(&m, "1-2,49-50", 864 * MB), 0);
	assert_memory(&m, "0:100 1:100 2:100 3:100 4:100 5:100 6:100 7:100");
	/* A node that has less gives all it has, and the others evenly the rest. */
	m.supply->nodes[3].bytes = 40 * MB;
	assert_int_equal(plan(&m, "6-7,54-55", 764 * MB), 0);
	assert_memory(&m, "1:110 2:110 3:40 4:110 5:110 6:110 7:110");
	/* The job's policy counts before the site's. */
	machine_ask_numa(&m, "local");
	assert_int_equal(plan(&m, "6-7,54-55", 764 * MB), 0);
	assert_memory(&m, "1:700");
	machine_free(&m);
}

static void bound_memory_is_nowhere_else(void **state)
{
	struct machine m;

	machine_load(&m, EPYC);
	machine_ask_numa(&m, "bind=0");
	assert_int_equal(plan(&m, "6-7,54-55", GB), 0);
	assert_memory(&m, "0:960");
	assert_int_equal(m.plan->n_memory, 1); /* no reserve to fall back to */
	assert_true(memory_entry(&m, 0)->system && memory_entry(&m, 0)->remote);
	machine_ask_numa(&m, "bind=1-3");
	assert_int_equal(plan(&m, "6-7,54-55", GB), 0);
	assert_memory(&m, "1:960");
	m.supply->nodes[1].bytes = 500 * MB;
	assert_int_equal(plan(&m, "6-7,54-55", GB), 0);
	assert_memory(&m, "1:500 2:460");
	machine_ask_numa(&m, "bind=1");
	assert_int_equal(plan(&m, "6-7,54-55", GB), -1);
	assert_string_equal(
		m.err.text,
		"expected 960 MB of memory for the LWK from the NUMA nodes 1 alone "
		"(--lwk-numa (or --mem-bind)); these can give away 500 MB; ask for less "
		"memory (--lwk-mem), or for more nodes");
	machine_ask_numa(&m, "bind=7-8");
	assert_int_equal(plan(&m, "6-7,54-55", GB), -1);
	assert_has(m.err.text, "memory of the NUMA nodes 7-8, found only 0-7 on this machine");
	ms_numa_release(&m.request.numa);
	machine_numa(&m, "bind=8");
	assert_int_equal(plan(&m, "6-7,54-55", GB), -1);
	assert_has(m.err.text, "Numa= of lwk.conf wants memory of the NUMA nodes 8");
	machine_free(&m);
}

static void high_bandwidth_memory_is_for_those_who_ask(void **state)
{
	struct machine m;

	machine_load(&m, KNL);
	assert_int_equal(plan(&m, "16-31,80-95,144-159,208-223", 10 * GB + 64 * MB), 0);
	assert_memory(&m, "1:10240");
	assert_false(memory_entry(&m, 5)->remote);
	machine_ask_numa(&m, "bind=4-7");
	assert_int_equal(plan(&m, "17-31,81-95,145-159,209-223,32-48,96-112,160-176,224-240",
			      8 * GB + 64 * MB),
			 0);
	/* The LWK has 14, 16 and 1 core near nodes 5, 6 and 7; node 6 has less than its share. */
	assert_int_equal(memory_of(&m, 5) + memory_of(&m, 6) + memory_of(&m, 7), 8 * GB);
	assert_int_equal(memory_of(&m, 6), 4 * GB);
	assert_true(memory_of(&m, 7) < GB);
	machine_ask_numa(&m, "local");
	/*
	 * All ordinary memory of job nodes comes first, then MCDRAM, then the system node's memory.
	 */
	assert_int_equal(plan(&m, "16-31,80-95,144-159,208-223", 88 * GB + 64 * MB), 0);
	assert_memory(&m, "1:24576 2:24576 3:24576 5:4096 4:4096 6:4096 7:4096");
	assert_int_equal(plan(&m, "16-31,80-95,144-159,208-223", 90 * GB + 64 * MB), 0);
	assert_int_equal(memory_of(&m, 0), 2 * GB);
	assert_true(memory_entry(&m, 0)->system);
	machine_free(&m);
}

static void all_memory_is_local_where_numa_is_fake(void **state)
{
	struct machine m;

	machine_make(&m, FAKE);
	assert_int_equal(plan(&m, "1-3", 664 * MB), 0);
	assert_memory(&m, "1:200 2:200 3:200");
	assert_int_equal(plan(&m, "1-3", 3 * GB + 264 * MB), 0);
	assert_memory(&m, "1:1024 2:1024 3:1024 0:200");
	assert_true(memory_entry(&m, 0)->system);
	assert_false(memory_entry(&m, 0)->remote);
	machine_free(&m);
}

static void assistant_cores_keep_no_memory_from_their_neighbours(void **state)
{
	struct machine m;

	machine_load(&m, A64FX);
	m.config->linux_cpus = 0;
	machine_os_cpus(&m, "0-1");
	assert_int_equal(plan(&m, "12-59", 4 * GB + 64 * MB), 0);
	assert_memory(&m, "0:1024 1:1024 2:1024 3:1024");
	assert_true(memory_entry(&m, 0)->system && memory_entry(&m, 1)->system);
	assert_int_equal(plan(&m, "36-59", 4 * GB + 64 * MB), 0);
	assert_memory(&m, "2:2048 3:2048");
	/*
	 * Memory that node 2 lacks comes from node 3, though remote, before more of the system's.
	 */
	m.supply->nodes[2].bytes = GB;
	assert_int_equal(plan(&m, "12-47", 6 * GB + 64 * MB), 0);
	assert_memory(&m, "0:2048 1:2048 2:1024 3:1024");
	machine_free(&m);
}

static void one_numa_node(void **state)
{
	static const char *const policies[] = { "local", "interleave", "bind=0" };
	struct machine m;

	machine_make(&m, ONE_NODE);
	for (size_t i = 0; i < 3; i++) {
		machine_ask_numa(&m, policies[i]);
		assert_int_equal(plan(&m, "1-3", GB), 0);
		assert_memory(&m, "0:960");
		assert_false(memory_entry(&m, 0)->system || memory_entry(&m, 0)->remote);
	}
	machine_ask_numa(&m, "bind=1");
	assert_int_equal(plan(&m, "1-3", GB), -1);
	assert_has(m.err.text, "NUMA nodes 1, found only 0 on this machine");
	machine_free(&m);
	/* This description does not say how much memory the machine has. */
	machine_load(&m, "offline-threads.xml");
	m.config->linux_cpus = 0;
	assert_int_equal(plan(&m, "4,12", GB), -1);
	assert_has(m.err.text,
		   "expected 960 MB of memory for the LWK; this machine can give away 0");
	machine_free(&m);
}

static void how_much_the_lwk_gets(void **state)
{
	struct machine m;

	machine_load(&m, XEON);
	machine_ask_memory(&m, "all");
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_int_equal(m.plan->bytes, 960 * MB);
	machine_ask_memory(&m, "50%");
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_int_equal(m.plan->bytes, 512 * MB);
	assert_int_equal(memory_in_all(&m), 512 * MB);
	machine_ask_memory(&m, "301M");
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_int_equal(m.plan->bytes, 300 * MB);
	machine_ask_memory(&m, "960M");
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	machine_ask_memory(&m, "961M");
	assert_int_equal(plan(&m, "8-11,24-27", GB), -1);
	assert_string_equal(
		m.err.text,
		"--lwk-mem: expected at most 960 MB for the LWK, found 961 MB (the "
		"allocation has 1 GB on this node, of which 64 MB stay with Linux); ask "
		"for less, or for more with --mem");
	/* The smallest LWK there is, and one that is smaller. */
	machine_ask_memory(&m, "64M");
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	assert_int_equal(m.plan->bytes, 64 * MB);
	machine_ask_memory(&m, "63M");
	assert_int_equal(plan(&m, "8-11,24-27", GB), -1);
	assert_has(m.err.text, "expected at least 64 MB for the LWK, found");
	machine_ask_memory(&m, "100%");
	assert_int_equal(plan(&m, "8-11,24-27", GB), -1);
	assert_has(m.err.text, "for the LWK, found 1 GB");
	machine_ask_memory(&m, "5%");
	assert_int_equal(plan(&m, "8-11,24-27", GB), -1);
	assert_has(m.err.text, "expected at least 64 MB for the LWK, found");
	machine_ask_memory(&m, "16777215T");
	assert_int_equal(plan(&m, "8-11,24-27", GB), -1);
	assert_has(m.err.text, "found 16777215 TB");
	machine_ask_memory(&m, "all");
	assert_int_equal(plan(&m, "8-11,24-27", UINT64_MAX), -1);
	assert_has(m.err.text, "this machine can give away");
	machine_ask_memory(&m, "99%");
	assert_int_equal(plan(&m, "8-11,24-27", UINT64_MAX), -1);
	assert_has(m.err.text, "this machine can give away");
	machine_free(&m);
}

static void whole_memory_is_what_can_be_had(void **state)
{
	struct machine m;

	machine_load(&m, EPYC);
	for (unsigned i = 0; i < 8; i++)
		m.supply->nodes[i].bytes = i ? 101 * MB : 0;
	m.request.whole_memory = true;
	assert_int_equal(plan(&m, "6-7,54-55", 256 * GB), 0);
	assert_int_equal(m.plan->bytes, 700 * MB);
	assert_int_equal(m.plan->least, 64 * MB);
	assert_int_equal(memory_in_all(&m), 700 * MB);
	machine_ask_numa(&m, "bind=2-3");
	assert_int_equal(plan(&m, "6-7,54-55", 256 * GB), 0);
	assert_memory(&m, "2:100 3:100");
	machine_ask_numa(&m, "bind=0");
	assert_int_equal(plan(&m, "6-7,54-55", 256 * GB), -1);
	assert_has(m.err.text, "these can give away 0");
	/* A job that asks for an amount gets all of it or is refused. */
	machine_ask_numa(&m, "local");
	machine_ask_memory(&m, "1G");
	assert_int_equal(plan(&m, "6-7,54-55", 256 * GB), -1);
	machine_ask_memory(&m, "all");
	m.request.whole_memory = false;
	assert_int_equal(plan(&m, "6-7,54-55", GB), -1);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_cores_stay_and_go),
		cmocka_unit_test(half_cores_stay_with_linux),
		cmocka_unit_test(without_multithreading_siblings_idle),
		cmocka_unit_test(off_line_cpus_and_cpus_that_are_not_there),
		cmocka_unit_test(doorbells_stay_on_the_node),
		cmocka_unit_test(doorbells_stay_under_the_cache),
		cmocka_unit_test(assistant_cores_share_the_far_ones),
		cmocka_unit_test(a_near_socket_is_better_than_a_far_one),
		cmocka_unit_test(local_memory_in_proportion),
		cmocka_unit_test(the_systems_memory_only_when_it_must_be),
		cmocka_unit_test(interleaved_memory_is_spread_evenly),
		cmocka_unit_test(bound_memory_is_nowhere_else),
		cmocka_unit_test(high_bandwidth_memory_is_for_those_who_ask),
		cmocka_unit_test(all_memory_is_local_where_numa_is_fake),
		cmocka_unit_test(assistant_cores_keep_no_memory_from_their_neighbours),
		cmocka_unit_test(one_numa_node),
		cmocka_unit_test(how_much_the_lwk_gets),
		cmocka_unit_test(whole_memory_is_what_can_be_had),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
