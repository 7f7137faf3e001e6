// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Separates the NUMA nodes for jobs from those for the system, so that memory for LWKs stays
 * contiguous however long the node runs. Follows the paper on LWK batch operation (2017): there
 * a changed kernel makes the memory of job nodes movable; here its blocks are put off-line and
 * on-line again, which kernels allow today.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/files.h"
#include "base/json.h"
#include "base/signals.h"
#include "interrupts/affinity.h"
#include "machine/memory.h"
#include "machine/topology.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "node/prepare/services.h"
#include "store/journal.h"
#include "store/state.h"

#define STATE_FILE "prepared.json"
#define LOCK_WAIT_MS 60000

struct preparing {
	const struct ms_config *config;
	bool dry_run;
	/*
	 * What has been changed, for undoing: "blocks" and "interrupts", arrays, and "pending", a
	 * block that is, or may be, on its way.
	 */
	struct json_object *state;
	struct json_object *report;
	bool incomplete;
	struct ms_error *err;
};

static struct json_object *add_array(struct json_object *object, const char *key)
{
	struct json_object *array = json_object_new_array();

	json_object_object_add(object, key, array);
	return array;
}

static struct json_object *array_of(struct json_object *object, const char *key)
{
	struct json_object *array;

	if (json_object_object_get_ex(object, key, &array) &&
	    json_object_is_type(array, json_type_array))
		return array;
	return add_array(object, key);
}

/* ---- what has been changed ---- */

static int read_state(struct json_object **out, struct ms_error *err)
{
	return state_read(STATE_FILE, "what 'lwkctl prepare' has changed",
			  "a reboot undoes all of it", out, err);
}

static int write_state(struct preparing *p)
{
	return state_keep(STATE_FILE,
			  json_object_to_json_string_ext(p->state, JSON_C_TO_STRING_PLAIN), p->err);
}

static int remove_state(struct preparing *p)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" STATE_FILE, state_dir);
	if (unlink(path) < 0 && errno != ENOENT)
		return ms_fail(p->err, "%s: %m", path);
	return 0;
}

static bool is_changed(struct preparing *p, unsigned long index)
{
	struct json_object *blocks = array_of(p->state, "blocks");

	for (size_t i = 0; i < json_object_array_length(blocks); i++) {
		if (journal_number(json_object_array_get_idx(blocks, i), "block") == index)
			return true;
	}
	return false;
}

/* The block's entry, in which its undo is. Every on-line block was put there by the kernel. */
static struct json_object *new_entry(unsigned long block)
{
	struct json_object *entry = json_object_new_object();

	json_add_number(entry, "block", block);
	json_add_text(entry, "online", "online_kernel");
	return entry;
}

/* A call that was killed may have left its block off-line, or movable without saying so. */
static void finish_pending(struct preparing *p)
{
	struct json_object *pending;
	unsigned long block;

	if (!json_object_object_get_ex(p->state, "pending", &pending))
		return;
	block = journal_number(pending, "block");
	if (memory_block_is(block, "offline"))
		memory_block_return(block, journal_text(pending, "online"));
	else if (memory_block_is_movable(block) && !is_changed(p, block))
		json_object_array_add(array_of(p->state, "blocks"), new_entry(block));
	json_object_object_del(p->state, "pending");
}

/* ---- memory ---- */

static void add_kept(struct json_object *kept, const struct memory_block *block)
{
	struct json_object *item = json_object_new_object();
	struct memory_obstacles found;
	char why[256] = "it has holes, or is in several zones or on several NUMA nodes";

	memory_look_for_obstacles(block, &found);
	if (found.slab || found.page_tables || found.reserved || found.broken)
		snprintf(why, sizeof(why),
			 "it has pages that cannot be moved: reserved %lu, slab %lu, page tables "
			 "%lu, broken %lu",
			 found.reserved, found.slab, found.page_tables, found.broken);
	else if (!block->unfit)
		snprintf(why, sizeof(why),
			 "it has a page that is pinned or the kernel's own (there are %lu doubtful "
			 "ones), or Linux has no room elsewhere",
			 found.doubtful);
	json_add_number(item, "block", block->index);
	json_add_text(item, "why", why);
	json_object_array_add(kept, item);
}

/* 1: now movable; 0: it stays as it is; -1: stop. */
static int make_movable(struct preparing *p, const struct memory_block *block)
{
	int error;

	json_object_object_add(p->state, "pending", new_entry(block->index));
	if (write_state(p) < 0)
		return -1;
	if (memory_linux_can_spare() < memory_block_bytes() ||
	    !memory_block_take(block->index, memory_block_deadline()))
		return signal_is_pending() ? ms_fail(p->err, "cancelled by a signal") : 0;
	error = memory_block_return(block->index, "online_movable");
	if (error) {
		/* A node without ZONE_MOVABLE, say: back to where it was. */
		memory_block_return(block->index, "online_kernel");
		return 0;
	}
	if (!is_changed(p, block->index))
		json_object_array_add(array_of(p->state, "blocks"), new_entry(block->index));
	return 1;
}

/* Tries the blocks that have not become movable yet. */
static int try_blocks(struct preparing *p, struct memory_block *blocks, size_t n, unsigned *changed)
{
	for (size_t i = 0; i < n; i++) {
		struct memory_block *block = &blocks[i];
		int ret;

		if (block->movable || block->unfit || !block->online)
			continue;
		ret = p->dry_run ? memory_block_doubtful(block) != ALL_PAGES
				 : make_movable(p, block);
		if (ret < 0)
			return -1;
		block->movable = ret;
		*changed += ret;
	}
	return 0;
}

static unsigned number_of_movable(const struct memory_block *blocks, size_t n)
{
	unsigned movable = 0;

	for (size_t i = 0; i < n; i++)
		movable += blocks[i].movable;
	return movable;
}

static void describe_node(struct json_object *item, unsigned node, unsigned changed,
			  const struct memory_block *blocks, size_t n)
{
	struct json_object *kept = add_array(item, "kept");
	unsigned offline = 0;

	for (size_t i = 0; i < n; i++) {
		offline += !blocks[i].online && !blocks[i].movable;
		if (blocks[i].online && !blocks[i].movable)
			add_kept(kept, &blocks[i]);
	}
	json_add_number(item, "node", node);
	json_add_number(item, "blocks", n);
	json_add_number(item, "block_bytes", memory_block_bytes());
	json_add_number(item, "movable", number_of_movable(blocks, n));
	json_add_number(item, "changed", changed);
	json_add_number(item, "offline", offline);
}

static int separate_node(struct preparing *p, unsigned node, struct json_object *nodes)
{
	struct json_object *item = json_object_new_object();
	struct memory_block *blocks;
	size_t n = memory_blocks(node, &blocks);
	unsigned changed = 0;
	int ret;

	json_object_array_add(nodes, item);
	ret = try_blocks(p, blocks, n, &changed);
	/* A page on its way through a cache of the kernel's goes the next time. */
	if (ret == 0 && !p->dry_run)
		ret = try_blocks(p, blocks, n, &changed);
	json_object_object_del(p->state, "pending");
	describe_node(item, node, changed, blocks, n);
	/* There are nodes without memory. */
	if (n && !number_of_movable(blocks, n))
		p->incomplete = true;
	free(blocks);
	return ret < 0 || p->dry_run ? ret : write_state(p);
}

static int separate_memory(struct preparing *p, hwloc_const_bitmap_t job_nodes)
{
	struct json_object *nodes = add_array(p->report, "nodes");
	unsigned node;

	if (!memory_block_bytes())
		return ms_fail(p->err, "wanted memory blocks that can go off-line; found a kernel "
				       "without; boot one with CONFIG_MEMORY_HOTREMOVE");
	hwloc_bitmap_foreach_begin(node, job_nodes) {
		if (separate_node(p, node, nodes) < 0)
			return -1;
	}
	hwloc_bitmap_foreach_end();
	return 0;
}

/* ---- interrupts and services ---- */

/* "was" stays what the first call found. */
static bool is_known(struct json_object *interrupts, const char *irq)
{
	for (size_t i = 0; i < json_object_array_length(interrupts); i++) {
		if (strcmp(journal_text(json_object_array_get_idx(interrupts, i), "irq"), irq) == 0)
			return true;
	}
	return false;
}

static void add_kept_interrupt(struct json_object *kept, struct json_object *interrupt, int error)
{
	struct json_object *item = json_object_new_object();

	json_add_text(item, "irq", journal_text(interrupt, "irq"));
	json_add_text(item, "name", journal_text(interrupt, "name"));
	json_add_text(item, "why",
		      error == -EIO ? "the kernel itself chooses its CPU" : strerror(-error));
	json_object_array_add(kept, item);
}

/* 1: moved; 0: it refuses; -1: stop. */
static int steer_interrupt(struct preparing *p, struct json_object *interrupt,
			   struct json_object *kept)
{
	struct json_object *known = array_of(p->state, "interrupts");
	bool is_new = !is_known(known, journal_text(interrupt, "irq"));
	int error;

	if (is_new)
		json_object_array_add(known, json_object_get(interrupt));
	if (write_state(p) < 0)
		return -1;
	error = interrupt_set(interrupt);
	if (!error)
		return 1;
	if (is_new)
		json_object_array_del_idx(known, json_object_array_length(known) - 1, 1);
	/* Without a handler it is of no interest. */
	if (*journal_text(interrupt, "name"))
		add_kept_interrupt(kept, interrupt, error);
	return 0;
}

static int steer_interrupts(struct preparing *p)
{
	struct json_object *part = json_object_new_object(), *kept = add_array(part, "kept");
	struct json_object *found = json_object_new_array();
	unsigned changed = 0;
	int ret = 0;

	json_object_object_add(p->report, "interrupts", part);
	json_add_list(part, "cpus", p->config->os_cpus);
	interrupts_find(p->config->os_cpus, found);
	for (size_t i = 0; i < json_object_array_length(found) && ret >= 0; i++) {
		ret = p->dry_run ? 1
				 : steer_interrupt(p, json_object_array_get_idx(found, i), kept);
		changed += ret == 1;
	}
	json_object_put(found);
	json_add_number(part, "changed", changed);
	return ret < 0 || p->dry_run ? ret : write_state(p);
}

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

/* ---- all of it ---- */

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
		       "wanted a node where nothing is lent; found %zu CPUs and ranges of "
		       "memory lent, and %zd jobs with an LWK; wait for their end, or see "
		       "'lwkctl status'",
		       n_lent, n);
}

/* A machine with nothing to separate is as good as it gets. */
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

/* ---- undoing ---- */

/* NULL, or why the block stays movable. */
static const char *give_block_back(struct json_object *entry)
{
	unsigned long block = journal_number(entry, "block");

	/* Somebody else has put it off-line or elsewhere, or an undo that was broken off. */
	if (!memory_block_is_movable(block))
		return NULL;
	if (memory_linux_can_spare() < memory_block_bytes())
		return "Linux has no room elsewhere for what it holds";
	if (!memory_block_take(block, memory_block_deadline()))
		return "it does not go off-line: something in it is pinned";
	if (memory_block_return(block, journal_text(entry, "online")) == 0)
		return NULL;
	memory_block_return(block, "online_movable");
	return "it does not come on-line in the kernel's zone";
}

static int undo_memory(struct preparing *p)
{
	struct json_object *blocks = json_object_get(array_of(p->state, "blocks"));
	struct json_object *left = json_object_new_array(), *kept = add_array(p->report, "kept");
	unsigned changed = 0;
	int ret = 0;

	for (size_t i = json_object_array_length(blocks); i-- > 0 && ret == 0;) {
		struct json_object *entry = json_object_array_get_idx(blocks, i), *item;
		const char *why;

		json_object_object_add(p->state, "pending", json_object_get(entry));
		ret = write_state(p);
		why = ret < 0 ? "it is not tried" : give_block_back(entry);
		changed += !why;
		if (!why)
			continue;
		p->incomplete = true;
		json_object_array_add(left, json_object_get(entry));
		item = json_object_new_object();
		json_add_number(item, "block", journal_number(entry, "block"));
		json_add_text(item, "why", why);
		json_object_array_add(kept, item);
	}
	json_object_object_del(p->state, "pending");
	if (ret == 0)
		json_object_object_add(p->state, "blocks", json_object_get(left));
	json_object_put(blocks);
	json_object_put(left);
	json_add_number(p->report, "changed", changed);
	return ret < 0 ? ret : write_state(p);
}

static int undo(struct preparing *p)
{
	struct json_object *interrupts = array_of(p->state, "interrupts");
	struct ms_error why;

	if (services_release(&why) < 0) {
		p->incomplete = true;
		json_add_text(p->report, "note", why.text);
	}
	/* What cannot be set refused it before, or is gone. */
	for (size_t i = json_object_array_length(interrupts); i-- > 0;)
		interrupt_restore(json_object_array_get_idx(interrupts, i));
	json_object_object_del(p->state, "interrupts");
	if (undo_memory(p) < 0)
		return -1;
	return p->incomplete ? 0 : remove_state(p);
}

static int locked(struct preparing *p, enum ms_prepare_mode mode)
{
	int ret;

	if (read_state(&p->state, p->err) < 0)
		return -1;
	if (mode == MS_PREPARE_DRY_RUN) {
		ret = do_prepare(p);
	} else if (check_nothing_is_lent(p->err) < 0) {
		ret = -1;
	} else {
		finish_pending(p);
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
