// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what must be true of every plan, with thousands of requests, good and bad, on every
 * machine of tests/unit/topologies and on random ones.
 */
#include "modeswitch/config.h"
#include "modeswitch/plan.h"
#include "unit/machine.h"

#define LARGE_PAGE (2 * MB)
#define ROUNDS 1000

static const char *const machines[] = {
	"a64fx.xml",	     "epyc-7451-8n.xml",      "hidden-nodes.xml",
	"knl-snc4-flat.xml", "node-without-cpus.xml", "offline-threads.xml",
	"xeon-2s-smt.xml",
};

/* The numbers come from xorshift64*, so that each run is the same everywhere. */
static uint64_t seed = 88172645463325252ULL;

static unsigned draw(unsigned below)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (seed * 2685821657736338717ULL >> 33) % below;
}

/* Draws a few runs of neighbours, now and then with CPUs that do not exist. */
static void draw_list(hwloc_bitmap_t list, hwloc_const_bitmap_t from, unsigned runs)
{
	int last = hwloc_bitmap_last(from);

	hwloc_bitmap_zero(list);
	for (unsigned i = 0; i <= draw(runs); i++) {
		unsigned first = draw(last + 1);

		hwloc_bitmap_set_range(list, first, first + draw(1 + last / (1 + draw(8))));
	}
	if (draw(20))
		hwloc_bitmap_and(list, list, from);
}

static void draw_numa(struct machine *m, struct ms_numa *numa, bool may_be_site)
{
	ms_numa_release(numa);
	numa->policy = MS_NUMA_SITE + !may_be_site + draw(4 - !may_be_site);
	if (numa->policy != MS_NUMA_BIND)
		return;
	numa->nodes = hwloc_bitmap_alloc();
	draw_list(numa->nodes, hwloc_topology_get_topology_nodeset(m->topology), 2);
}

static void draw_amount(struct machine *m)
{
	m->request.lwk_memory = (struct ms_amount){ 0 };
	if (draw(3) == 0)
		m->request.lwk_memory.percent = 1 + draw(100);
	else if (draw(2) == 0)
		m->request.lwk_memory.bytes = (uint64_t)draw(1 << 20) << draw(24);
}

static void draw_supply(struct machine *m)
{
	hwloc_const_bitmap_t cpus = hwloc_topology_get_topology_cpuset(m->topology);
	struct supply *supply = m->supply;

	supply->bytes = 0;
	for (size_t i = 0; i < supply->n_nodes; i++) {
		supply->nodes[i].bytes = draw(4) ? (uint64_t)draw(1 << 20) << 15 : 0;
		supply->bytes += supply->nodes[i].bytes;
	}
	if (draw(3) == 0)
		supply->bytes -= supply->bytes / (1 + draw(10));
	hwloc_bitmap_copy(supply->online_cpus, cpus);
	hwloc_bitmap_zero(supply->lent_cpus);
	if (draw(4) == 0)
		draw_list(supply->lent_cpus, cpus, 1);
	if (draw(4) == 0)
		hwloc_bitmap_clr(supply->online_cpus, draw(hwloc_bitmap_last(cpus) + 1));
}

static void draw_config(struct machine *m)
{
	hwloc_const_bitmap_t nodes = hwloc_topology_get_topology_nodeset(m->topology);

	m->config->linux_cpus = draw(4) ? draw(5) : 0;
	m->config->linux_memory = (uint64_t)draw(256) * MB;
	draw_list(m->config->os_cpus, hwloc_topology_get_topology_cpuset(m->topology), 1);
	if (draw(2))
		hwloc_bitmap_only(m->config->os_cpus, 0);
	hwloc_bitmap_set(m->config->os_cpus, 0);
	hwloc_bitmap_free(m->config->system_nodes);
	m->config->system_nodes = draw(2) ? hwloc_bitmap_alloc() : NULL;
	if (m->config->system_nodes)
		draw_list(m->config->system_nodes, nodes, 1);
	draw_numa(m, &m->config->numa, false);
}

/* Makes a request as Slurm would allocate it: whole cores that are free. */
static void make_sensible(struct machine *m, hwloc_bitmap_t cpus)
{
	hwloc_obj_t core = NULL;

	while ((core = hwloc_get_next_obj_by_type(m->topology, HWLOC_OBJ_CORE, core))) {
		if (hwloc_bitmap_intersects(core->cpuset, cpus))
			hwloc_bitmap_or(cpus, cpus, core->cpuset);
	}
	hwloc_bitmap_and(cpus, cpus, m->supply->online_cpus);
	hwloc_bitmap_andnot(cpus, cpus, m->supply->lent_cpus);
}

static void draw_request(struct machine *m)
{
	draw_list(m->request.cpus, hwloc_topology_get_topology_cpuset(m->topology), 4);
	if (draw(4))
		make_sensible(m, m->request.cpus);
	m->request.memory = (uint64_t)draw(1 << 20) << (8 + draw(14));
	m->request.one_per_core = draw(3) == 0;
	m->request.whole_memory = draw(4) == 0;
	draw_numa(m, &m->request.numa, true);
	draw_amount(m);
}

/* ---- what must be true ---- */

static void check_cores(const struct machine *m)
{
	int cpu, of_core;

	hwloc_bitmap_foreach_begin(cpu, m->plan->lwk_cpus) {
		hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(m->topology, cpu);
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(m->topology, HWLOC_OBJ_CORE, pu);
		unsigned busy = 0;

		if (!core)
			continue;
		hwloc_bitmap_foreach_begin(of_core, core->cpuset) {
			if (!hwloc_bitmap_isset(m->supply->online_cpus, of_core))
				continue;
			assert_true(hwloc_bitmap_isset(m->plan->lwk_cpus, of_core));
			busy += !hwloc_bitmap_isset(m->plan->idle_cpus, of_core);
		}
		hwloc_bitmap_foreach_end();
		if (m->request.one_per_core)
			assert_int_equal(busy, 1);
	}
	hwloc_bitmap_foreach_end();
}

static void check_cpus(const struct machine *m)
{
	const struct ms_plan *plan = m->plan;
	hwloc_bitmap_t both = hwloc_bitmap_alloc();

	hwloc_bitmap_or(both, plan->lwk_cpus, plan->linux_cpus);
	assert_true(hwloc_bitmap_isequal(both, m->request.cpus));
	assert_false(hwloc_bitmap_intersects(plan->lwk_cpus, plan->linux_cpus));
	assert_false(hwloc_bitmap_intersects(plan->lwk_cpus, m->config->os_cpus));
	assert_false(hwloc_bitmap_intersects(plan->lwk_cpus, m->supply->lent_cpus));
	assert_true(hwloc_bitmap_isincluded(plan->lwk_cpus, m->supply->online_cpus));
	assert_true(hwloc_bitmap_weight(plan->linux_cpus) >= (int)m->config->linux_cpus);
	assert_true(hwloc_bitmap_isincluded(plan->idle_cpus, plan->lwk_cpus));
	if (!m->request.one_per_core)
		assert_true(hwloc_bitmap_iszero(plan->idle_cpus));
	hwloc_bitmap_andnot(both, plan->lwk_cpus, plan->idle_cpus);
	assert_true(plan->n_cpus > 0);
	assert_int_equal(plan->n_cpus, hwloc_bitmap_weight(both));
	for (size_t i = 0; i < plan->n_cpus; i++) {
		assert_true(hwloc_bitmap_isset(both, plan->cpus[i].cpu));
		hwloc_bitmap_clr(both, plan->cpus[i].cpu);
	}
	hwloc_bitmap_free(both);
	check_cores(m);
}

static void check_doorbells(const struct machine *m)
{
	const struct ms_plan *plan = m->plan;
	hwloc_bitmap_t servers = hwloc_bitmap_dup(plan->linux_cpus);
	size_t load, share;
	int cpu;

	if (hwloc_bitmap_iszero(servers))
		hwloc_bitmap_and(servers, m->config->os_cpus, m->supply->online_cpus);
	hwloc_bitmap_and(servers, servers, hwloc_topology_get_topology_cpuset(m->topology));
	share = hwloc_bitmap_weight(servers);
	share = (plan->n_cpus + share - 1) / share;
	for (size_t i = 0; i < plan->n_cpus; i++)
		assert_true(hwloc_bitmap_isset(servers, plan->cpus[i].doorbell_cpu));
	hwloc_bitmap_foreach_begin(cpu, servers) {
		load = 0;
		for (size_t i = 0; i < plan->n_cpus; i++)
			load += plan->cpus[i].doorbell_cpu == (unsigned)cpu;
		assert_true(load <= share);
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(servers);
}

static uint64_t supply_of(const struct machine *m, unsigned node)
{
	for (size_t i = 0; i < m->supply->n_nodes; i++) {
		if (m->supply->nodes[i].node == node)
			return m->supply->nodes[i].bytes;
	}
	return 0;
}

static void check_memory(const struct machine *m)
{
	const struct ms_numa *numa =
		m->request.numa.policy == MS_NUMA_SITE ? &m->config->numa : &m->request.numa;
	const struct ms_amount *amount = &m->request.lwk_memory;
	uint64_t sum = 0, most = m->request.memory - m->config->linux_memory;

	for (size_t i = 0; i < m->plan->n_memory; i++) {
		const struct ms_plan_memory *memory = &m->plan->memory[i];

		assert_int_equal(memory->bytes % LARGE_PAGE, 0);
		assert_true(memory->bytes <= supply_of(m, memory->node));
		if (numa->policy == MS_NUMA_BIND)
			assert_true(hwloc_bitmap_isset(numa->nodes, memory->node));
		sum += memory->bytes;
	}
	assert_int_equal(sum, m->plan->bytes);
	assert_true(sum <= most && sum <= m->supply->bytes);
	if (amount->bytes)
		most = amount->bytes;
	else if (amount->percent)
		most = (unsigned __int128)m->request.memory * amount->percent / 100;
	assert_true(sum >= m->plan->least);
	if (!m->request.whole_memory || amount->bytes || amount->percent)
		assert_int_equal(sum, most / LARGE_PAGE * LARGE_PAGE);
}

/* Makes plans on the machine; returns how many of the requests got one. */
static unsigned plan_often(struct machine *m, unsigned rounds)
{
	unsigned planned = 0;

	for (unsigned round = 0; round < rounds; round++) {
		draw_supply(m);
		draw_config(m);
		draw_request(m);
		*m->err.text = '\0';
		ms_plan_free(m->plan);
		m->plan = NULL;
		if (plan_decide(m->config, &m->request, m->topology, m->supply, &m->plan, &m->err) <
		    0) {
			assert_null(m->plan);
			assert_true(strlen(m->err.text) > 20);
			continue;
		}
		planned++;
		check_cpus(m);
		check_doorbells(m);
		check_memory(m);
	}
	return planned;
}

static void whatever_is_asked(void **state)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		unsigned planned;
		struct machine m;

		machine_load(&m, machines[i]);
		planned = plan_often(&m, ROUNDS);
		/* With too few plans, nothing would have been tested. */
		print_message("# %s: %u of %u planned\n", machines[i], planned, ROUNDS);
		assert_true(planned > ROUNDS / 20);
		machine_free(&m);
	}
}

/* ---- random machines ---- */

#define TREES 80
#define ROUNDS_OF_TREE 100
#define MAX_CPUS 512

static size_t __attribute__((format(printf, 3, 4))) add(char *text, size_t length,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	length += vsnprintf(text + length, 8192 - length, format, args);
	va_end(args);
	assert_true(length < 8192);
	return length;
}

/* NUMA nodes for an object: none or more, some without memory, of very different sizes. */
static size_t draw_nodes(char *text, size_t length, unsigned least)
{
	unsigned n = least + draw(3 - least);

	for (unsigned i = 0; i < n; i++)
		length = add(text, length, "[numa(memory=%ju)] ",
			     draw(8) ? (uintmax_t)(1 + draw(4096)) << (20 + draw(11)) : 0);
	return length;
}

/* The CPUs' numbers in any order, as firmware gives them. */
static void draw_numbers(char *text, size_t length, unsigned n)
{
	unsigned numbers[MAX_CPUS];

	for (unsigned i = 0; i < n; i++)
		numbers[i] = i;
	for (unsigned i = n; i > 1; i--) {
		unsigned j = draw(i), number = numbers[j];

		numbers[j] = numbers[i - 1];
		numbers[i - 1] = number;
	}
	length = add(text, length, "(indexes=");
	for (unsigned i = 0; i < n; i++)
		length = add(text, length, "%s%u", i ? "," : "", numbers[i]);
	add(text, length, ")");
}

/* Draws a machine as a description for hwloc's synthetic topologies. */
static void draw_tree(char *text)
{
	unsigned packages = 1 + draw(4), groups = draw(2) ? 1 + draw(4) : 1;
	unsigned caches = 1 + draw(2), cores = 1 + draw(4), threads = 1 << draw(3);
	bool nodes_in_groups = groups > 1 && draw(2);
	size_t length = add(text, 0, "pack:%u ", packages);

	if (!nodes_in_groups)
		length = draw_nodes(text, length, 1);
	if (groups > 1)
		length = add(text, length, "group:%u ", groups);
	if (nodes_in_groups)
		length = draw_nodes(text, length, 1);
	length = add(text, length, "l3:%u core:%u pu:%u", caches, cores, threads);
	if (draw(2))
		draw_numbers(text, length, packages * groups * caches * cores * threads);
}

static void whatever_the_machine_is(void **state)
{
	unsigned planned = 0;
	char text[8192];

	for (unsigned i = 0; i < TREES; i++) {
		struct machine m;

		draw_tree(text);
		machine_make(&m, text);
		planned += plan_often(&m, ROUNDS_OF_TREE);
		machine_free(&m);
	}
	print_message("# random trees: %u of %u planned\n", planned, TREES * ROUNDS_OF_TREE);
	assert_true(planned > TREES * ROUNDS_OF_TREE / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_asked),
		cmocka_unit_test(whatever_the_machine_is),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
