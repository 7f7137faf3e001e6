// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Separates the NUMA nodes for jobs from those for the system, so that memory for LWKs stays
 * contiguous however long the node runs. This follows the paper on LWK batch operation (2017): a
 * changed kernel makes the memory of job nodes movable there; here each block goes off-line and
 * comes on-line again as movable, which today's kernels allow.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/child.h"
#include "base/json.h"
#include "base/signals.h"
#include "machine/topology.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "node/prepare/preparing.h"
#include "node/prepare/services.h"
#include "store/state.h"

#define LOCK_WAIT_MS 60000

static void keep_services(struct preparing *p, hwloc_const_bitmap_t nodes)
{
	struct json_object *part = json_object_new_object();
	const char *how;
	struct ms_error why;
	unsigned changed;

	json_object_object_add(p->report, "services", part);
	how = services_keep(p->config->os_cpus, nodes, p->dry_run, &changed, &why);
	json_add_list(part, "cpus", p->config->os_cpus);
	json_add_list(part, "nodes", nodes);
	json_add_text(part, "how", how ? how : "");
	json_add_text(part, "why", how ? "" : why.text);
	json_add_number(part, "changed", changed);
}

static int check_nothing_is_lent(struct ms_error *err)
{
	struct ms_lent *lent = NULL;
	uint32_t *jobs = NULL;
	size_t n_lent;
	ssize_t n;

	if (ms_ledger(&lent, &n_lent, err) < 0)
		return -1;
	n = state_jobs(".journal", &jobs, err);
	free(lent);
	free(jobs);
	if (n < 0)
		return -1;
	if (!n_lent && !n)
		return 0;
	return ms_fail(err,
		       "expected a node where nothing is lent, found %zu CPUs and ranges of "
		       "memory lent, and %zd jobs with an LWK; wait for their end, or see "
		       "'lwkctl status'",
		       n_lent, n);
}

/* Reports that there is nothing to separate, which is no failure. */
static void say_why_not(struct preparing *p, int n_nodes)
{
	if (n_nodes < 2)
		json_add_text(
			p->report, "note",
			"this machine has one NUMA node, so there is nothing to separate, and "
			"nothing is changed; boot with numa=fake=N (with N=4 a quarter of the memory "
			"is the system's; the kernel needs CONFIG_NUMA_EMU) to divide it, or with "
			"movablecore=SIZE");
	else
		json_add_text(
			p->report, "note",
			"lwk.conf leaves no NUMA node to the system or none to jobs (SystemNodes=), "
			"so there is nothing to separate, and nothing is changed");
}

static int separate(struct preparing *p, hwloc_topology_t topology)
{
	hwloc_bitmap_t system = hwloc_bitmap_alloc();
	hwloc_bitmap_t jobs = hwloc_bitmap_dup(hwloc_topology_get_topology_nodeset(topology));
	int ret = -1;

	if (!system || !jobs) {
		ms_fail(p->err, "out of memory");
	} else if (topology_system_nodes(topology, p->config, system, p->err) == 0) {
		int n_nodes = hwloc_bitmap_weight(jobs);

		hwloc_bitmap_andnot(jobs, jobs, system);
		json_add_list(p->report, "system_nodes", system);
		json_add_list(p->report, "job_nodes", jobs);
		ret = 0;
		if (hwloc_bitmap_iszero(system) || hwloc_bitmap_iszero(jobs)) {
			say_why_not(p, n_nodes);
		} else {
			json_add_text(p->report, "note", "");
			ret = separate_memory(p, jobs);
			if (ret >= 0)
				ret = steer_interrupts(p);
			if (ret >= 0)
				keep_services(p, system);
		}
	}
	hwloc_bitmap_free(system);
	hwloc_bitmap_free(jobs);
	return ret;
}

static int do_prepare(struct preparing *p)
{
	hwloc_topology_t topology;
	int ret;

	if (topology_load_node(false, false, &topology, p->err) < 0)
		return -1;
	ret = separate(p, topology);
	hwloc_topology_destroy(topology);
	return ret;
}

static int undo(struct preparing *p)
{
	struct ms_error why;

	if (services_release(&why) < 0) {
		p->incomplete = true;
		json_add_text(p->report, "note", why.text);
	}
	undo_interrupts(p);
	if (undo_memory(p) < 0)
		return -1;
	return p->incomplete ? 0 : remove_state(p);
}

static int locked(struct preparing *p, enum ms_prepare_mode mode)
{
	int ret;

	if (read_state(p) < 0)
		return -1;
	if (mode == MS_PREPARE_DRY_RUN) {
		ret = do_prepare(p);
	} else if (check_nothing_is_lent(p->err) < 0) {
		ret = -1;
	} else {
		finish_pending_block(p);
		ret = mode == MS_PREPARE_UNDO ? undo(p) : do_prepare(p);
	}
	json_object_put(p->state);
	return ret;
}

int ms_prepare(const struct ms_config *config, enum ms_prepare_mode mode,
	       struct json_object **report, struct ms_error *err)
{
	struct preparing p = { .config = config,
			       .dry_run = mode == MS_PREPARE_DRY_RUN,
			       .report = json_object_new_object(),
			       .err = err };
	int lock = state_lock(LOCK_WAIT_MS, err), ret = -1;

	if (lock >= 0) {
		signals_hold();
		ret = locked(&p, mode);
		signals_release();
		child_end_calls();
		close(lock);
	}
	if (ret < 0) {
		json_object_put(p.report);
		return -1;
	}
	json_object_object_add(p.report, "usable", json_object_new_boolean(!p.incomplete));
	*report = p.report;
	return p.incomplete;
}
