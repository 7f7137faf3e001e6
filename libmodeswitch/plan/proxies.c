// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides the limits of a job's proxies. */
#include <inttypes.h>

#include "base/parse.h"
#include "machine/topology.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/limits.h"
#include "plan/planning.h"

/* Each CPU needs a process for its proxy, and one that starts the proxy. */
#define PIDS_PER_CPU 2

static int decide_memory(struct planning *p, struct ms_limits *limits)
{
	const struct ms_config *config = p->config;
	uint64_t machine = hwloc_get_root_obj(p->topology)->total_memory;
	char wanted[FORMAT_SIZE], found[FORMAT_SIZE];

	if (p->request->proxy_memory > config->proxy_memory_max)
		return ms_fail(p->err,
			       "expected --lwk-proxy-mem of %s; this site's maximum "
			       "(ProxyMemoryMax= in %s) is %s; ask for less",
			       format_size(p->request->proxy_memory, wanted), MS_CONFIG_PATH,
			       format_size(config->proxy_memory_max, found));
	limits->memory = p->request->proxy_memory;
	if (!limits->memory) {
		limits->memory =
			config->proxy_memory + (p->plan->bytes >> 30) * config->proxy_memory_per_gb;
		if (limits->memory > config->proxy_memory_max)
			limits->memory = config->proxy_memory_max;
	}
	limits->memory_max = config->proxy_memory_max;
	/* An exported topology may lack the size of memory. */
	if (!machine || limits->memory <= machine)
		return 0;
	return ms_fail(
		p->err,
		"expected a limit of %s for the proxies' memory; this machine has only %s; ask "
		"for less (--lwk-proxy-mem), or have the administrator set a smaller "
		"ProxyMemory= in %s",
		format_size(limits->memory, wanted), format_size(machine >> 20 << 20, found),
		MS_CONFIG_PATH);
}

static int decide_pids(struct planning *p, struct ms_limits *limits)
{
	limits->pids = p->config->proxy_pids;
	if (limits->pids >= PIDS_PER_CPU * p->plan->n_cpus)
		return 0;
	return ms_fail(p->err,
		       "ProxyPids=%u in %s is too few for an LWK with %zu CPUs; the "
		       "administrator's remedy is at least %zu",
		       limits->pids, MS_CONFIG_PATH, p->plan->n_cpus,
		       PIDS_PER_CPU * p->plan->n_cpus);
}

/*
 * Chooses nodes near the CPUs. LWKs may have nearly all memory of a job's node: then the proxies
 * may also use the nodes where Linux always has some.
 */
static void decide_nodes(struct planning *p, struct ms_limits *limits)
{
	bool needs_system = false;
	int cpu;

	hwloc_bitmap_foreach_begin(cpu, limits->cpus) {
		int node = topology_node_of_cpu(p->topology, cpu);

		if (node >= 0)
			hwloc_bitmap_set(limits->nodes, node);
		if (node < 0 || !hwloc_bitmap_isset(p->system_nodes, node))
			needs_system = true;
	}
	hwloc_bitmap_foreach_end();
	if (needs_system)
		hwloc_bitmap_or(limits->nodes, limits->nodes, p->system_nodes);
}

int plan_proxies(struct planning *p)
{
	struct ms_limits *limits = &p->plan->proxies;
	hwloc_const_bitmap_t machine = hwloc_topology_get_topology_cpuset(p->topology);

	limits->cpus = hwloc_bitmap_dup(p->plan->linux_cpus);
	limits->nodes = hwloc_bitmap_alloc();
	if (!limits->cpus || !limits->nodes)
		return ms_fail(p->err, "out of memory");
	if (hwloc_bitmap_iszero(limits->cpus)) {
		hwloc_bitmap_and(limits->cpus, p->config->os_cpus, machine);
		limits->cpu_percent = p->config->proxy_cpu * hwloc_bitmap_weight(limits->cpus);
		limits->weight_percent = p->config->proxy_weight;
	}
	limits->required = p->config->proxy_limits_required;
	decide_nodes(p, limits);
	return decide_memory(p, limits) < 0 ? -1 : decide_pids(p, limits);
}
