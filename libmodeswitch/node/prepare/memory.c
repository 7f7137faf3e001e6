// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts memory blocks of job nodes into ZONE_MOVABLE, where the kernel never has pages of its own,
 * and puts them back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/signals.h"
#include "machine/memory.h"
#include "machine/obstacles.h"
#include "machine/spare.h"
#include "modeswitch/error.h"
#include "node/prepare/preparing.h"
#include "store/journal.h"

static bool is_changed(struct preparing *p, unsigned long index)
{
	struct json_object *blocks = array_of(p->state, "blocks");

	for (size_t i = 0; i < json_object_array_length(blocks); i++) {
		if (journal_number(json_object_array_get_idx(blocks, i), "block") == index)
			return true;
	}
	return false;
}

/* Makes the entry of a block that is changed. The kernel had put the block on-line itself. */
static struct json_object *new_entry(unsigned long block)
{
	struct json_object *entry = json_object_new_object();

	json_add_number(entry, "block", block);
	json_add_text(entry, "online", "online_kernel");
	return entry;
}

/* A call that was killed may have left its block off-line, or movable without an entry. */
void finish_pending_block(struct preparing *p)
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

static void add_kept(struct json_object *kept, const struct memory_block *block)
{
	struct json_object *item = json_object_new_object();
	struct memory_obstacles found;
	char why[256] = "it has holes or huge pages, or is in several zones or NUMA nodes";

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

static enum change make_movable(struct preparing *p, const struct memory_block *block)
{
	int error;

	json_object_object_add(p->state, "pending", new_entry(block->index));
	if (write_state(p) < 0)
		return CHANGE_STOPPED;
	if (memory_linux_can_spare() < memory_block_bytes() ||
	    !memory_block_take(block->index, memory_block_deadline())) {
		if (!signal_is_pending())
			return CHANGE_REFUSED;
		ms_fail(p->err, "cancelled by a signal");
		return CHANGE_STOPPED;
	}
	error = memory_block_return(block->index, "online_movable");
	if (error) {
		/* The NUMA node may have no ZONE_MOVABLE; the block goes back to where it was. */
		memory_block_return(block->index, "online_kernel");
		return CHANGE_REFUSED;
	}
	if (!is_changed(p, block->index))
		json_object_array_add(array_of(p->state, "blocks"), new_entry(block->index));
	return CHANGE_MADE;
}

/* Tries the blocks that have not become movable yet. */
static int try_blocks(struct preparing *p, struct memory_block *blocks, size_t n, unsigned *changed)
{
	for (size_t i = 0; i < n; i++) {
		struct memory_block *block = &blocks[i];
		enum change change;

		if (block->movable || block->unfit || !block->online)
			continue;
		if (!p->dry_run)
			change = make_movable(p, block);
		else
			change = memory_block_doubtful(block) == ALL_PAGES ? CHANGE_REFUSED
									   : CHANGE_MADE;
		if (change == CHANGE_STOPPED)
			return -1;
		block->movable = change == CHANGE_MADE;
		*changed += change == CHANGE_MADE;
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
	/* A page that was in a cache of the kernel's may be gone at the second try. */
	if (ret == 0 && !p->dry_run)
		ret = try_blocks(p, blocks, n, &changed);
	json_object_object_del(p->state, "pending");
	describe_node(item, node, changed, blocks, n);
	/* A NUMA node may have no memory. */
	if (n && !number_of_movable(blocks, n))
		p->incomplete = true;
	free(blocks);
	return ret < 0 || p->dry_run ? ret : write_state(p);
}

int separate_memory(struct preparing *p, hwloc_const_bitmap_t job_nodes)
{
	struct json_object *nodes = add_array(p->report, "nodes");
	unsigned node;

	if (!memory_block_bytes())
		return ms_fail(p->err,
			       "expected memory blocks that can go off-line, found a kernel "
			       "without; boot one with CONFIG_MEMORY_HOTREMOVE");
	hwloc_bitmap_foreach_begin(node, job_nodes) {
		if (separate_node(p, node, nodes) < 0)
			return -1;
	}
	hwloc_bitmap_foreach_end();
	return 0;
}

/* Puts a block back into the kernel's zone. Returns NULL, or why the block stays movable. */
static const char *give_block_back(struct json_object *entry)
{
	unsigned long block = journal_number(entry, "block");

	/* An undo that was broken off, or somebody else, has put it elsewhere. */
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

int undo_memory(struct preparing *p)
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
