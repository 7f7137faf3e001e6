// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides how much memory an LWK gets, and from which NUMA nodes. */
#include "plan/planning.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/parse.h"
#include "machine/topology.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"

#define SMALLEST_PARTITION (64UL << 20)
#define LIST_SIZE 256

/* A CPU's claim on memory; divides by the number of nodes that a CPU may be local to. */
#define CLAIM 5040UL

/* A node that may give memory, which is counted in large pages. */
struct source {
	hwloc_obj_t node;
	uint64_t has, gives;
	uint64_t weight;   /* the node's share is in proportion to it; 0: in reserve */
	uint64_t distance; /* from the LWK's CPUs, on the whole */
	unsigned tier;	   /* nodes of lower tiers give first */
	bool system, remote;
};

/*
 * Tiers of nodes: ordinary memory; then high-bandwidth memory, which is scarce and kept for jobs
 * that ask for it; then system nodes. Nodes that a job names are all of one tier.
 */
enum { TIER_ORDINARY = 0, TIER_SPECIAL = 1, TIER_SYSTEM = 2, N_TIERS = 4 };

/* ---- how much ---- */

static uint64_t percent_of(uint64_t bytes, unsigned percent)
{
	return bytes / 100 * percent + bytes % 100 * percent / 100;
}

static int check_amount(struct planning *p, uint64_t wanted, uint64_t most)
{
	char text[4][FORMAT_SIZE];

	if (wanted > most)
		return ms_fail(
			p->err,
			"--lwk-mem: expected at most %s for the LWK, found %s (the allocation "
			"has %s on this node, of which %s stay with Linux); ask for less, or for "
			"more with --mem",
			format_size(most, text[0]), format_size(wanted, text[1]),
			format_size(p->request->memory, text[2]),
			format_size(p->config->linux_memory, text[3]));
	if (wanted < SMALLEST_PARTITION)
		return ms_fail(
			p->err,
			"--lwk-mem: expected at least %s for the LWK, found %s; ask for more",
			format_size(SMALLEST_PARTITION, text[0]), format_size(wanted, text[1]));
	return 0;
}

static int size_memory(struct planning *p)
{
	uint64_t keep = p->config->linux_memory, has = p->request->memory, wanted;
	const struct ms_amount *amount = &p->request->lwk_memory;
	uint64_t most = has > keep ? has - keep : 0;
	char text[4][FORMAT_SIZE];

	if (most < SMALLEST_PARTITION)
		return ms_fail(
			p->err,
			"--lwk: expected at least %s of memory on the node (%s stay with Linux, an LWK "
			"needs %s), found %s; ask for more, for example with --mem=%juM",
			format_size(keep + SMALLEST_PARTITION, text[0]), format_size(keep, text[1]),
			format_size(SMALLEST_PARTITION, text[2]), format_size(has, text[3]),
			(uintmax_t)(keep + SMALLEST_PARTITION + (1 << 20) - 1) >> 20);
	wanted = amount->percent ? percent_of(has, amount->percent) : amount->bytes;
	if (!wanted)
		wanted = most;
	else if (check_amount(p, wanted, most) < 0)
		return -1;
	p->plan->bytes = wanted / p->grain * p->grain;
	p->plan->least = p->plan->bytes;
	if (p->request->whole_memory && !amount->percent && !amount->bytes)
		p->plan->least = SMALLEST_PARTITION;
	return 0;
}

/* ---- from where ---- */

static const struct ms_numa *policy(const struct planning *p)
{
	return p->request->numa.policy == MS_NUMA_SITE ? &p->config->numa : &p->request->numa;
}

static const char *policy_origin(const struct planning *p)
{
	return p->request->numa.policy == MS_NUMA_SITE ? "Numa= of lwk.conf"
						       : "--lwk-numa (or --mem-bind)";
}

/* Sums up the distances of a node from the LWK's CPUs. No CPU is local to a remote node. */
static void measure_distance(struct planning *p, struct source *source)
{
	source->remote = true;
	for (size_t i = 0; i < p->plan->n_cpus; i++) {
		const struct ms_plan_cpu *cpu = &p->plan->cpus[i];

		if (hwloc_bitmap_isset(source->node->cpuset, cpu->cpu))
			source->remote = false;
		source->distance +=
			topology_distance(p->topology, cpu->node, source->node->os_index);
	}
}

static bool may_give(const struct planning *p, unsigned node)
{
	const struct ms_numa *numa = policy(p);

	return numa->policy != MS_NUMA_BIND || hwloc_bitmap_isset(numa->nodes, node);
}

static size_t list_sources(struct planning *p, struct source *sources)
{
	const struct supply *supply = p->supply;
	size_t n = 0;

	for (size_t i = 0; i < supply->n_nodes; i++) {
		unsigned number = supply->nodes[i].node;
		struct source *source = &sources[n];

		source->node = hwloc_get_numanode_obj_by_os_index(p->topology, number);
		if (!source->node || !may_give(p, number))
			continue;
		source->has = supply->nodes[i].bytes / LARGE_PAGE;
		source->system = hwloc_bitmap_isset(p->system_nodes, number);
		if (policy(p)->policy != MS_NUMA_BIND)
			source->tier =
				topology_node_is_special(p->topology, source->node) * TIER_SPECIAL +
				source->system * TIER_SYSTEM;
		measure_distance(p, source);
		n++;
	}
	return n;
}

static bool is_local(const struct source *source, unsigned cpu)
{
	return hwloc_bitmap_isset(source->node->cpuset, cpu);
}

/*
 * Divides one CPU's claim evenly among the nodes of the lowest tier that it is local to; there are
 * several with numa=fake= or with high-bandwidth memory. Without any, the nearest node gets it.
 */
static void claim_local(struct planning *p, struct source *sources, size_t n,
			const struct ms_plan_cpu *cpu)
{
	uint64_t distance, least = UINT64_MAX;
	size_t count = 0, nearest = 0;
	unsigned best = N_TIERS;

	for (size_t i = 0; i < n; i++) {
		distance = topology_distance(p->topology, cpu->node, sources[i].node->os_index);
		if (distance < least) {
			least = distance;
			nearest = i;
		}
		if (!is_local(&sources[i], cpu->cpu) || sources[i].tier > best)
			continue;
		count = sources[i].tier < best ? 1 : count + 1;
		best = sources[i].tier;
	}
	if (!count)
		sources[nearest].weight += CLAIM;
	for (size_t i = 0; count && i < n; i++) {
		if (is_local(&sources[i], cpu->cpu) && sources[i].tier == best)
			sources[i].weight += CLAIM / count;
	}
}

/*
 * Weighs all nodes of ordinary memory alike; system nodes only if a CPU of the LWK is local to no
 * other node.
 */
static void claim_interleaved(struct planning *p, struct source *sources, size_t n)
{
	for (size_t i = 0; i < p->plan->n_cpus; i++)
		claim_local(p, sources, n, &p->plan->cpus[i]);
	for (size_t i = 0; i < n; i++)
		sources[i].weight = sources[i].weight || sources[i].tier == TIER_ORDINARY;
}

static int compare_sources(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	if (!x->weight != !y->weight)
		return x->weight ? -1 : 1;
	if (!x->weight && x->tier != y->tier)
		return x->tier < y->tier ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->node->os_index < y->node->os_index ? -1 : 1;
}

static void take(struct source *source, uint64_t pages, uint64_t *left)
{
	if (pages > source->has - source->gives)
		pages = source->has - source->gives;
	if (pages > *left)
		pages = *left;
	source->gives += pages;
	*left -= pages;
}

static bool has_left(const struct source *source, unsigned tiers)
{
	return source->tier < tiers && source->gives < source->has;
}

/* Divides the rest by weight among the nodes of tiers below 'tiers' that still have memory. */
static void take_weighted(struct source *sources, size_t n, unsigned tiers, uint64_t *left)
{
	uint64_t pages = *left, rest = pages, weights = 0;

	for (size_t i = 0; i < n; i++)
		weights += has_left(&sources[i], tiers) ? sources[i].weight : 0;
	for (size_t i = 0; weights && i < n; i++) {
		uint64_t weight = has_left(&sources[i], tiers) ? sources[i].weight : 0;
		/* pages * weight could overflow. */
		uint64_t due = pages / weights * weight + pages % weights * weight / weights;

		rest -= due;
		take(&sources[i], due, left);
	}
	/* Rounding leaves less than a page for each node. */
	for (size_t i = 0; weights && rest && i < n; i++) {
		if (!has_left(&sources[i], tiers) || !sources[i].weight)
			continue;
		take(&sources[i], 1, left);
		rest--;
	}
}

/*
 * Takes from each node its share by weight. Where a node has less, the other nodes with a weight
 * give more, in proportion again, but not system nodes, which give only what they must. The rest
 * comes by tiers.
 */
static void take_all(struct source *sources, size_t n, uint64_t left)
{
	uint64_t before = left + 1;

	take_weighted(sources, n, N_TIERS, &left);
	while (left && left < before) {
		before = left;
		take_weighted(sources, n, TIER_SYSTEM, &left);
	}
	for (unsigned tier = 0; tier < N_TIERS; tier++) {
		for (size_t i = 0; i < n; i++) {
			if (sources[i].tier == tier)
				take(&sources[i], left, &left);
		}
	}
}

static int check_nodes(struct planning *p)
{
	hwloc_const_bitmap_t machine = hwloc_topology_get_topology_nodeset(p->topology);
	char wanted[LIST_SIZE], found[LIST_SIZE];

	if (policy(p)->policy != MS_NUMA_BIND || hwloc_bitmap_isincluded(policy(p)->nodes, machine))
		return 0;
	hwloc_bitmap_list_snprintf(wanted, sizeof(wanted), policy(p)->nodes);
	hwloc_bitmap_list_snprintf(found, sizeof(found), machine);
	return ms_fail(p->err,
		       "%s wants memory of the NUMA nodes %s, found only %s on this machine; name "
		       "none but those",
		       policy_origin(p), wanted, found);
}

static int fail_for_lack(struct planning *p, uint64_t available)
{
	char wanted[FORMAT_SIZE], found[FORMAT_SIZE], nodes[LIST_SIZE];

	format_size(p->plan->bytes, wanted);
	format_size(available * LARGE_PAGE, found);
	if (policy(p)->policy == MS_NUMA_BIND && available < p->supply->bytes / LARGE_PAGE) {
		hwloc_bitmap_list_snprintf(nodes, sizeof(nodes), policy(p)->nodes);
		return ms_fail(
			p->err,
			"expected %s of memory for the LWK from the NUMA nodes %s alone (%s); "
			"these can give away %s; ask for less memory (--lwk-mem), or for "
			"more nodes",
			wanted, nodes, policy_origin(p), found);
	}
	return ms_fail(p->err,
		       "expected %s of memory for the LWK; this machine can give away %s; ask "
		       "for less memory (--mem), or have the administrator lower RealMemory= "
		       "in slurm.conf",
		       wanted, found);
}

static int divide(struct planning *p, struct source *sources, size_t n)
{
	uint64_t available = 0, left = p->plan->bytes / LARGE_PAGE;

	for (size_t i = 0; i < n; i++)
		available += sources[i].has;
	if (available > p->supply->bytes / LARGE_PAGE)
		available = p->supply->bytes / LARGE_PAGE;
	if (available < p->plan->least / LARGE_PAGE)
		return fail_for_lack(p, available);
	if (available < left) {
		left = available;
		p->plan->bytes = left * LARGE_PAGE / p->grain * p->grain;
		left = p->plan->bytes / LARGE_PAGE;
	}
	if (policy(p)->policy == MS_NUMA_INTERLEAVE) {
		claim_interleaved(p, sources, n);
	} else {
		for (size_t i = 0; i < p->plan->n_cpus; i++)
			claim_local(p, sources, n, &p->plan->cpus[i]);
	}
	qsort(sources, n, sizeof(*sources), compare_sources);
	take_all(sources, n, left);
	return 0;
}

static int place_memory(struct planning *p)
{
	struct source *sources = calloc(p->supply->n_nodes, sizeof(*sources));
	struct ms_plan *plan = p->plan;
	size_t n;

	plan->memory = calloc(p->supply->n_nodes, sizeof(*plan->memory));
	if (!sources || !plan->memory) {
		free(sources);
		return ms_fail(p->err, "out of memory");
	}
	n = list_sources(p, sources);
	if (divide(p, sources, n) < 0) {
		free(sources);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		plan->memory[i] = (struct ms_plan_memory){
			.node = sources[i].node->os_index,
			.bytes = sources[i].gives * LARGE_PAGE,
			.system = sources[i].system,
			.remote = sources[i].remote,
		};
	plan->n_memory = n;
	/* A rest below a grain of one node comes from the next one. */
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t odd = plan->memory[i].bytes % p->grain;

		plan->memory[i].bytes -= odd;
		plan->memory[i + 1].bytes += odd;
	}
	free(sources);
	return 0;
}

int plan_memory(struct planning *p)
{
	if (size_memory(p) < 0 || check_nodes(p) < 0)
		return -1;
	return place_memory(p);
}
