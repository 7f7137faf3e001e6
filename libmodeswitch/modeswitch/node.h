/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This node of the cluster, for its administrator: what it has lent, preparing it, checking it. Root.
 */
#ifndef MODESWITCH_NODE_H
#define MODESWITCH_NODE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <modeswitch/config.h>
#include <modeswitch/error.h>

struct json_object;

/* A CPU or a range of memory that is lent. */
struct ms_lent {
	bool is_cpu;
	bool is_blocks; /* memory: whole blocks that Linux has off-line */
	int instance;	/* who has it, or MS_NO_INSTANCE */
	unsigned cpu;
	unsigned node;
	uint64_t start; /* physical address */
	uint64_t bytes;
};

/* All that is lent, CPUs first; nothing when lwkpart.ko is not loaded. Free with free(). */
int ms_ledger(struct ms_lent **lent, size_t *n, struct ms_error *err);

/* What a NUMA node has lent, and could lend. Bytes. */
struct ms_numa_info {
	unsigned node;
	bool system; /* kept for the system: LWKs get its memory last */
	hwloc_bitmap_t lent_cpus, free_cpus;
	uint64_t total;	       /* with what is lent */
	uint64_t lent;	       /* to LWKs, or kept warm for one */
	uint64_t largest_lent; /* largest contiguous run of it */
	/*
	 * What is free or could be moved away now, in pages of 4 KB, and the part of it that is
	 * whole large pages, of 2 MB and of 1 GB, and the largest contiguous run of the first.
	 */
	uint64_t free_4k, free_2m, free_1g;
	uint64_t largest_free;
};

/* What this node of the cluster has lent and could lend (paper, table 1: ihk_getihkinfo). */
struct ms_node_info {
	unsigned instances;
	hwloc_bitmap_t lent_cpus;
	hwloc_bitmap_t free_cpus; /* on-line, and not OsCpus=; jobs without an LWK may use them */
	uint64_t lent;
	uint64_t spare; /* Linux gives no more of all 'free_4k' than that, or it would be short */
	struct ms_numa_info *numa; /* by number */
	size_t n_numa;
};

/*
 * Looks at each page of the node, so it takes seconds on a large one. What could be lent is an
 * estimate: from one moment to the next Linux uses, frees and pins memory. Root. Free what it
 * holds with ms_node_info_release().
 */
int ms_node_info(const struct ms_config *config, struct ms_node_info *info, struct ms_error *err);
void ms_node_info_release(struct ms_node_info *info);

/* What ms_prepare() is to do. */
enum ms_prepare_mode {
	MS_PREPARE_DRY_RUN, /* tell what would be done */
	MS_PREPARE,
	MS_PREPARE_UNDO,
};

/*
 * Separates the NUMA nodes for jobs from those for the system (SystemNodes=): puts the memory
 * blocks of job nodes into ZONE_MOVABLE, where the kernel never has pages of its own, and keeps
 * interrupts and services on the OS CPUs and system nodes. Or undoes exactly what earlier calls
 * have changed; 'config' may be NULL then. Root; fails while anything is lent.
 *
 * *report: what was got, what was not, and why; lwkctl(8) documents the members.
 * json_object_put() it. 1: done, but not all job nodes are (--undo: not all was) as they should
 * be; the report says why.
 */
int ms_prepare(const struct ms_config *config, enum ms_prepare_mode mode,
	       struct json_object **report, struct ms_error *err);

/* One finding of ms_check(). */
struct ms_finding {
	enum { MS_FINE, MS_NOTE, MS_PROBLEM } level;
	const char *subject; /* a stable name, "module" */
	const char *text;    /* what was found */
	const char *to_do;   /* what to do about it; NULL with MS_FINE */
};

/*
 * Looks for whatever would break LWK jobs on this node and changes nothing.
 * Returns the number of problems.
 */
int ms_check(const char *config_path, void (*hear)(const struct ms_finding *, void *context),
	     void *context);

#endif
