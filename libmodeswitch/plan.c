// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "topology.h"

#define LARGE_PAGE (2UL << 20)
#define SMALLEST_PARTITION (64UL << 20)

/* A plan in the making. */
struct planning {
	const struct ms_config *config;
	const struct ms_request *request;
	hwloc_topology_t topology;
	const struct supply *supply;
	hwloc_bitmap_t os_cpus; /* those that are on-line */
	struct ms_plan *plan;
	struct ms_error *err;
};

static void format_cpus(char *text, size_t size, hwloc_const_bitmap_t cpus)
{
	hwloc_bitmap_list_snprintf(text, size, cpus);
}

static int check_request(struct planning *p)
{
	hwloc_const_bitmap_t machine = hwloc_topology_get_topology_cpuset(p->topology);
	hwloc_const_bitmap_t cpus = p->request->cpus;
	char wanted[256], found[256];

	format_cpus(wanted, sizeof(wanted), cpus);
	if (!hwloc_bitmap_isincluded(cpus, machine)) {
		format_cpus(found, sizeof(found), machine);
		return ms_fail(p->err, "the allocation has CPUs %s; this machine has only %s",
			       wanted, found);
	}
	if (hwloc_bitmap_intersects(cpus, p->supply->lent_cpus)) {
		format_cpus(found, sizeof(found), p->supply->lent_cpus);
		return ms_fail(p->err,
			       "of the allocation's CPUs %s some are lent to an LWK already (lent "
			       "are %s); the administrator's remedy is 'lwkctl reset'",
			       wanted, found);
	}
	if (!hwloc_bitmap_isincluded(cpus, p->supply->online_cpus)) {
		format_cpus(found, sizeof(found), p->supply->online_cpus);
		return ms_fail(
			p->err,
			"of the allocation's CPUs %s some are off-line (on-line are %s); the "
			"administrator's remedy is chcpu -e",
			wanted, found);
	}
	return 0;
}

/* The CPUs for the system stay anyway; then the lowest ones until LinuxCpus= stay. */
static int split_cpus(struct planning *p)
{
	hwloc_const_bitmap_t all = p->request->cpus;
	struct ms_plan *plan = p->plan;
	unsigned stay;
	char list[256];
	int cpu;

	hwloc_bitmap_and(plan->linux_cpus, all, p->config->os_cpus);
	hwloc_bitmap_andnot(plan->lwk_cpus, all, plan->linux_cpus);
	stay = hwloc_bitmap_weight(plan->linux_cpus);
	for (; stay < p->config->linux_cpus; stay++) {
		cpu = hwloc_bitmap_first(plan->lwk_cpus);
		if (cpu < 0)
			break;
		hwloc_bitmap_set(plan->linux_cpus, cpu);
		hwloc_bitmap_clr(plan->lwk_cpus, cpu);
	}
	if (!hwloc_bitmap_iszero(plan->lwk_cpus))
		return 0;
	if (stay < p->config->linux_cpus)
		stay = p->config->linux_cpus;
	format_cpus(list, sizeof(list), all);
	return ms_fail(
		p->err,
		"--lwk needs at least %u CPUs in the allocation (%u stay%s with Linux for the "
		"batch script and the proxies); found %d (CPU %s); ask for more, for example with "
		"-c %u",
		stay + 1, stay, stay == 1 ? "s" : "", hwloc_bitmap_weight(all), list, stay + 1);
}

/* The nearest of the candidates; of several the one that has the fewest so far. */
static unsigned choose_doorbell(struct planning *p, unsigned node, hwloc_const_bitmap_t candidates)
{
	uint64_t best_distance = UINT64_MAX;
	size_t best_load = SIZE_MAX;
	unsigned best = 0;
	int cpu;

	hwloc_bitmap_foreach_begin(cpu, candidates) {
		int cpu_node = topology_node_of_cpu(p->topology, cpu);
		uint64_t distance = topology_distance(p->topology, node, cpu_node);
		size_t load = 0;

		for (size_t i = 0; i < p->plan->n_cpus; i++)
			load += p->plan->cpus[i].doorbell_cpu == (unsigned)cpu;
		if (distance < best_distance || (distance == best_distance && load < best_load)) {
			best_distance = distance;
			best_load = load;
			best = cpu;
		}
	}
	hwloc_bitmap_foreach_end();
	return best;
}

/*
 * Numbers the LWK's CPUs and gives each its doorbell: the job's own CPUs with Linux if it
 * has any, so that its proxies are woken where they run and no other job is disturbed.
 */
static int place_cpus(struct planning *p)
{
	struct ms_plan *plan = p->plan;
	hwloc_const_bitmap_t candidates =
		hwloc_bitmap_iszero(plan->linux_cpus) ? p->os_cpus : plan->linux_cpus;
	int cpu, node;

	plan->cpus = calloc(hwloc_bitmap_weight(plan->lwk_cpus), sizeof(*plan->cpus));
	if (!plan->cpus)
		return ms_fail(p->err, "out of memory");
	hwloc_bitmap_foreach_begin(cpu, plan->lwk_cpus) {
		node = topology_node_of_cpu(p->topology, cpu);
		if (node < 0)
			return ms_fail(p->err, "CPU %d is on no NUMA node", cpu);
		plan->cpus[plan->n_cpus] = (struct ms_plan_cpu){
			.cpu = cpu,
			.node = node,
			.doorbell_cpu = choose_doorbell(p, node, candidates),
		};
		plan->n_cpus++;
	}
	hwloc_bitmap_foreach_end();
	return 0;
}

static int size_memory(struct planning *p)
{
	uint64_t keep = p->config->linux_memory, has = p->request->memory;
	char has_text[FORMAT_SIZE], keep_text[FORMAT_SIZE], least[FORMAT_SIZE], needs[FORMAT_SIZE];

	p->plan->bytes = has > keep ? (has - keep) / LARGE_PAGE * LARGE_PAGE : 0;
	if (p->plan->bytes >= SMALLEST_PARTITION)
		return 0;
	return ms_fail(p->err,
		       "--lwk needs at least %s of memory on the node (%s stay with Linux, an LWK "
		       "needs %s); found %s; ask for more, for example with --mem=%juM",
		       format_size(keep + SMALLEST_PARTITION, needs), format_size(keep, keep_text),
		       format_size(SMALLEST_PARTITION, least), format_size(has, has_text),
		       (uintmax_t)(keep + SMALLEST_PARTITION + (1 << 20) - 1) >> 20);
}

/* How far a node is from the LWK's CPUs, on the whole. */
static uint64_t distance_of_node(struct planning *p, unsigned node)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->plan->n_cpus; i++)
		sum += topology_distance(p->topology, p->plan->cpus[i].node, node);
	return sum;
}

static void sort_nodes_by_distance(struct planning *p, struct ms_plan_memory *nodes, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct ms_plan_memory moved = nodes[i];
		size_t at = i;

		for (; at &&
		       distance_of_node(p, moved.node) < distance_of_node(p, nodes[at - 1].node);
		     at--)
			nodes[at] = nodes[at - 1];
		nodes[at] = moved;
	}
}

static size_t cpus_on_node(const struct ms_plan *plan, unsigned node)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_cpus; i++)
		n += plan->cpus[i].node == node;
	return n;
}

/*
 * Each node of the LWK's CPUs gives memory in proportion to its CPUs, in whole large pages,
 * as far as it has it; the rest comes from the nearest nodes that have some left.
 */
static int place_memory(struct planning *p)
{
	const struct supply *supply = p->supply;
	struct ms_plan *plan = p->plan;
	uint64_t pages = plan->bytes / LARGE_PAGE, left = pages;
	char wanted[FORMAT_SIZE], found[FORMAT_SIZE];
	uint64_t available = 0;

	plan->memory = calloc(supply->n_nodes, sizeof(*plan->memory));
	if (!plan->memory)
		return ms_fail(p->err, "out of memory");
	plan->n_memory = supply->n_nodes;
	memcpy(plan->memory, supply->nodes, supply->n_nodes * sizeof(*plan->memory));
	sort_nodes_by_distance(p, plan->memory, plan->n_memory);
	for (size_t i = 0; i < plan->n_memory; i++) {
		struct ms_plan_memory *from = &plan->memory[i];
		uint64_t share = pages * cpus_on_node(plan, from->node) / plan->n_cpus;
		uint64_t has = from->bytes / LARGE_PAGE;

		available += has;
		if (share > has)
			share = has;
		from->bytes = share * LARGE_PAGE;
		left -= share;
	}
	if (available > supply->bytes / LARGE_PAGE)
		available = supply->bytes / LARGE_PAGE;
	if (available < pages)
		return ms_fail(
			p->err,
			"wanted %s of memory for the LWK; this machine can give away %s; ask "
			"for less memory (--mem), or have the administrator lower RealMemory= "
			"in slurm.conf",
			format_size(plan->bytes, wanted),
			format_size(available * LARGE_PAGE, found));
	/* What rounding left and what a node lacks. */
	for (size_t i = 0; i < plan->n_memory && left; i++) {
		struct ms_plan_memory *from = &plan->memory[i];

		for (size_t j = 0; j < supply->n_nodes; j++) {
			uint64_t more;

			if (supply->nodes[j].node != from->node)
				continue;
			more = (supply->nodes[j].bytes - from->bytes) / LARGE_PAGE;
			if (more > left)
				more = left;
			from->bytes += more * LARGE_PAGE;
			left -= more;
		}
	}
	return 0;
}

int plan_decide(const struct ms_config *config, const struct ms_request *request,
		hwloc_topology_t topology, const struct supply *supply, struct ms_plan **out,
		struct ms_error *err)
{
	struct planning p = { config, request, topology, supply, .err = err };
	const struct ms_image *image = ms_config_image(config, request->image, err);
	int ret;

	if (!image)
		return -1;
	p.plan = calloc(1, sizeof(*p.plan));
	if (!p.plan)
		return ms_fail(err, "out of memory");
	p.plan->image = *image;
	p.plan->lwk_cpus = hwloc_bitmap_alloc();
	p.plan->linux_cpus = hwloc_bitmap_alloc();
	p.os_cpus = hwloc_bitmap_alloc();
	hwloc_bitmap_and(p.os_cpus, config->os_cpus, supply->online_cpus);
	ret = check_request(&p) < 0 || split_cpus(&p) < 0 || place_cpus(&p) < 0 ||
			      size_memory(&p) < 0 || place_memory(&p) < 0
		      ? -1
		      : 0;
	hwloc_bitmap_free(p.os_cpus);
	if (ret < 0)
		ms_plan_free(p.plan);
	else
		*out = p.plan;
	return ret;
}

void ms_plan_free(struct ms_plan *plan)
{
	if (!plan)
		return;
	hwloc_bitmap_free(plan->lwk_cpus);
	hwloc_bitmap_free(plan->linux_cpus);
	free(plan->cpus);
	free(plan->memory);
	free(plan);
}
