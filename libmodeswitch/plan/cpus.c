// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which CPUs an LWK gets, which stay with Linux, and where doorbells go. */
#include "plan/planning.h"

#include <limits.h>
#include <stdlib.h>

#include "machine/topology.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"

#define LIST_SIZE 256
#define UNSERVED UINT_MAX

static const char *list(char text[LIST_SIZE], hwloc_const_bitmap_t cpus)
{
	hwloc_bitmap_list_snprintf(text, LIST_SIZE, cpus);
	return text;
}

static int check_allocation(struct planning *p)
{
	hwloc_const_bitmap_t machine = hwloc_topology_get_topology_cpuset(p->topology);
	hwloc_const_bitmap_t cpus = p->request->cpus;
	char wanted[LIST_SIZE], found[LIST_SIZE];

	list(wanted, cpus);
	/* CPUs that were off-line when the topology was read are missing in it. */
	if (!hwloc_bitmap_isincluded(cpus, machine) &&
	    !hwloc_bitmap_isincluded(cpus, hwloc_topology_get_complete_cpuset(p->topology)))
		return ms_fail(p->err,
			       "expected CPUs of this machine (%s) in the allocation, found %s; "
			       "ask for CPUs that it has, or have the administrator correct the "
			       "node in slurm.conf ('slurmd -C' prints it)",
			       list(found, machine), wanted);
	if (hwloc_bitmap_intersects(cpus, p->supply->lent_cpus))
		return ms_fail(p->err,
			       "expected all of the allocation's CPUs %s with Linux, found that "
			       "CPUs %s are lent to an LWK already; the administrator's remedy is "
			       "'lwkctl reset'",
			       wanted, list(found, p->supply->lent_cpus));
	if (!hwloc_bitmap_isincluded(cpus, p->supply->online_cpus) ||
	    !hwloc_bitmap_isincluded(cpus, machine))
		return ms_fail(
			p->err,
			"expected all of the allocation's CPUs %s on-line, found that some are "
			"off-line (on-line are %s); the administrator's remedy is chcpu -e, or "
			"what 'lwkctl check' says of their numbers",
			wanted, list(found, p->supply->online_cpus));
	return 0;
}

/* Sets 'threads' to the CPU and all on-line CPUs that share its core. */
static void threads_of_core(struct planning *p, unsigned cpu, hwloc_bitmap_t threads)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(p->topology, cpu);
	hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(p->topology, HWLOC_OBJ_CORE, pu);

	hwloc_bitmap_and(threads, core ? core->cpuset : pu->cpuset, p->supply->online_cpus);
	hwloc_bitmap_set(threads, cpu);
}

/*
 * Gives whole cores to the LWK or to Linux, because hardware threads of a core slow each other
 * down: where Linux has one of them, the job's others stay with Linux, too.
 */
static void keep_shared_cores(struct planning *p, hwloc_bitmap_t threads)
{
	struct ms_plan *plan = p->plan;
	int cpu;

	hwloc_bitmap_foreach_begin(cpu, p->request->cpus) {
		threads_of_core(p, cpu, threads);
		if (hwloc_bitmap_isincluded(threads, p->request->cpus) &&
		    !hwloc_bitmap_intersects(threads, p->config->os_cpus))
			hwloc_bitmap_set(plan->lwk_cpus, cpu);
		else
			hwloc_bitmap_set(plan->linux_cpus, cpu);
	}
	hwloc_bitmap_foreach_end();
}

/* Keeps the lowest cores for Linux, until LinuxCpus= CPUs stay. */
static void keep_linux_cpus(struct planning *p, hwloc_bitmap_t threads)
{
	struct ms_plan *plan = p->plan;

	while (hwloc_bitmap_weight(plan->linux_cpus) < (int)p->config->linux_cpus &&
	       !hwloc_bitmap_iszero(plan->lwk_cpus)) {
		threads_of_core(p, hwloc_bitmap_first(plan->lwk_cpus), threads);
		hwloc_bitmap_or(plan->linux_cpus, plan->linux_cpus, threads);
		hwloc_bitmap_andnot(plan->lwk_cpus, plan->lwk_cpus, threads);
	}
}

static const char *plural(unsigned n)
{
	return n == 1 ? "" : "s";
}

static int fail_without_cores(struct planning *p, unsigned threads)
{
	unsigned linux_cpus = p->config->linux_cpus, has = hwloc_bitmap_weight(p->request->cpus);
	char cpus[LIST_SIZE];

	return ms_fail(
		p->err,
		"--lwk: expected a whole core with all its %u hardware threads, beside the whole "
		"cores of %u CPU%s for the batch script and the proxies on Linux, found %u "
		"CPU%s (%s); ask for whole cores, for example with --exclusive or -c %u",
		threads, linux_cpus, plural(linux_cpus), has, plural(has),
		list(cpus, p->request->cpus), ((linux_cpus + threads - 1) / threads + 1) * threads);
}

static int fail_without_cpus(struct planning *p)
{
	hwloc_const_bitmap_t all = p->request->cpus;
	unsigned stay = hwloc_bitmap_weight(p->plan->linux_cpus), has = hwloc_bitmap_weight(all);
	char cpus[LIST_SIZE];

	if (stay < p->config->linux_cpus)
		stay = p->config->linux_cpus;
	return ms_fail(
		p->err,
		"--lwk: expected at least %u CPUs in the allocation (%u stay%s with Linux for the "
		"batch script and the proxies), found %u (CPU %s); ask for more, for example with "
		"-c %u",
		stay + 1, stay, stay == 1 ? "s" : "", has, list(cpus, all), stay + 1);
}

/* One hardware thread of each core computes; the others go with it and idle. */
static void idle_siblings(struct planning *p, hwloc_bitmap_t threads)
{
	struct ms_plan *plan = p->plan;
	int cpu;

	hwloc_bitmap_foreach_begin(cpu, plan->lwk_cpus) {
		if (hwloc_bitmap_isset(plan->idle_cpus, cpu))
			continue;
		threads_of_core(p, cpu, threads);
		hwloc_bitmap_clr(threads, cpu);
		hwloc_bitmap_or(plan->idle_cpus, plan->idle_cpus, threads);
	}
	hwloc_bitmap_foreach_end();
}

static int split_cpus(struct planning *p)
{
	hwloc_bitmap_t threads = hwloc_bitmap_alloc();
	unsigned most = 1;
	int cpu;

	if (!threads)
		return ms_fail(p->err, "out of memory");
	hwloc_bitmap_foreach_begin(cpu, p->request->cpus) {
		threads_of_core(p, cpu, threads);
		if (hwloc_bitmap_weight(threads) > (int)most)
			most = hwloc_bitmap_weight(threads);
	}
	hwloc_bitmap_foreach_end();
	keep_shared_cores(p, threads);
	keep_linux_cpus(p, threads);
	if (p->request->one_per_core)
		idle_siblings(p, threads);
	hwloc_bitmap_free(threads);
	if (!hwloc_bitmap_iszero(p->plan->lwk_cpus))
		return 0;
	return most > 1 ? fail_without_cores(p, most) : fail_without_cpus(p);
}

static int number_cpus(struct planning *p)
{
	struct ms_plan *plan = p->plan;
	int cpu, node;

	plan->cpus = calloc(hwloc_bitmap_weight(plan->lwk_cpus), sizeof(*plan->cpus));
	if (!plan->cpus)
		return ms_fail(p->err, "out of memory");
	hwloc_bitmap_foreach_begin(cpu, plan->lwk_cpus) {
		if (hwloc_bitmap_isset(plan->idle_cpus, cpu))
			continue;
		node = topology_node_of_cpu(p->topology, cpu);
		if (node < 0)
			return ms_fail(p->err,
				       "CPU %d is on no NUMA node, so there is no memory for it; "
				       "ask for other CPUs",
				       cpu);
		plan->cpus[plan->n_cpus++] = (struct ms_plan_cpu){
			.cpu = cpu,
			.node = node,
			.doorbell_cpu = UNSERVED,
		};
	}
	hwloc_bitmap_foreach_end();
	return 0;
}

/* ---- doorbells ---- */

/* A Linux CPU that can get doorbells. */
struct server {
	unsigned cpu, node;
	size_t load;
};

/*
 * Returns the distance of a doorbell. A CPU of another NUMA node is farther than any CPU of the
 * same node, and the firmware's distances order the nodes. Within a node, CPUs are the farther the
 * fewer levels of the machine (package, caches, core) they share.
 */
static uint64_t doorbell_distance(struct planning *p, const struct ms_plan_cpu *from,
				  const struct server *to)
{
	hwloc_obj_t a = hwloc_get_pu_obj_by_os_index(p->topology, from->cpu);
	hwloc_obj_t b = hwloc_get_pu_obj_by_os_index(p->topology, to->cpu);
	hwloc_obj_t common = hwloc_get_common_ancestor_obj(p->topology, a, b);
	uint64_t nodes = 0;

	if (from->node != to->node)
		nodes = 1 + topology_distance(p->topology, from->node, to->node);
	return (nodes << 8) + (a->depth - common->depth);
}

static struct server *choose_server(struct server *servers, size_t n, const uint64_t *distances,
				    uint64_t distance, size_t share)
{
	struct server *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (distances[i] == distance && servers[i].load < share &&
		    (!best || servers[i].load < best->load))
			best = &servers[i];
	}
	return best;
}

/* Returns the least distance that is more than 'distance'. */
static uint64_t next_distance(const uint64_t *distances, size_t n, uint64_t distance)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		if (distances[i] > distance && distances[i] < next)
			next = distances[i];
	}
	return next;
}

/*
 * Pairs CPUs with servers, nearest first: all pairs of one distance before any of the next, so that
 * no CPU loses a near server to a CPU that is farther from it. No server gets more than an even
 * share, even when it is the nearest to all: as published for inter-OS delegation, with two, four,
 * six requesters on one core a call takes 1.56, 2.85, 3.00 times as long, with three cores 1.36,
 * 1.50, 1.76 times. The way to another node costs less than that queue.
 */
static void pair(struct ms_plan *plan, struct server *servers, size_t n, const uint64_t *distances)
{
	size_t share = (plan->n_cpus + n - 1) / n, left = plan->n_cpus;

	for (uint64_t distance = 0; left;
	     distance = next_distance(distances, plan->n_cpus * n, distance)) {
		for (size_t i = 0; i < plan->n_cpus; i++) {
			struct server *server;

			if (plan->cpus[i].doorbell_cpu != UNSERVED)
				continue;
			server = choose_server(servers, n, distances + i * n, distance, share);
			if (!server)
				continue;
			plan->cpus[i].doorbell_cpu = server->cpu;
			server->load++;
			left--;
		}
	}
}

static int serve_doorbells(struct planning *p, hwloc_const_bitmap_t cpus)
{
	size_t n = 0, most = hwloc_bitmap_weight(cpus);
	struct server *servers = calloc(most, sizeof(*servers));
	uint64_t *distances = calloc(most * p->plan->n_cpus, sizeof(*distances));
	int cpu, node;

	if (!servers || !distances) {
		free(servers);
		free(distances);
		return ms_fail(p->err, "out of memory");
	}
	hwloc_bitmap_foreach_begin(cpu, cpus) {
		node = topology_node_of_cpu(p->topology, cpu);
		servers[n++] = (struct server){ .cpu = cpu, .node = node < 0 ? 0 : node };
	}
	hwloc_bitmap_foreach_end();
	for (size_t i = 0; i < p->plan->n_cpus; i++) {
		for (size_t j = 0; j < n; j++)
			distances[i * n + j] = doorbell_distance(p, &p->plan->cpus[i], &servers[j]);
	}
	pair(p->plan, servers, n, distances);
	free(servers);
	free(distances);
	return 0;
}

/*
 * Chooses the job's assistant CPUs if it has any, so that its proxies are woken where they run and
 * no other job is disturbed; else the OS cores.
 */
static int place_doorbells(struct planning *p)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_dup(p->plan->linux_cpus);
	char found[LIST_SIZE];
	int ret;

	if (!cpus)
		return ms_fail(p->err, "out of memory");
	if (hwloc_bitmap_iszero(cpus)) {
		hwloc_bitmap_and(cpus, p->config->os_cpus, p->supply->online_cpus);
		hwloc_bitmap_and(cpus, cpus, hwloc_topology_get_topology_cpuset(p->topology));
	}
	if (hwloc_bitmap_iszero(cpus))
		ret = ms_fail(p->err,
			      "no CPU of Linux can serve the LWK: expected one of OsCpus=%s of "
			      "lwk.conf on-line, found none; have the administrator name another, "
			      "or set LinuxCpus=1",
			      list(found, p->config->os_cpus));
	else
		ret = serve_doorbells(p, cpus);
	hwloc_bitmap_free(cpus);
	return ret;
}

int plan_cpus(struct planning *p)
{
	if (check_allocation(p) < 0 || split_cpus(p) < 0 || number_cpus(p) < 0)
		return -1;
	return place_doorbells(p);
}
