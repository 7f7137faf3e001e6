/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This node of the cluster, for its administrator: what it has lent and could lend, preparing it,
 * and checking it. All calls need root.
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
	bool is_blocks; /* memory: whole memory blocks, off-line in Linux */
	int instance;	/* the instance that has it, or MS_NO_INSTANCE */
	unsigned cpu;
	unsigned node;
	uint64_t start; /* physical address; from 1 << 63 on: a name, because IHK tells none */
	uint64_t bytes;
};

/*
 * Lists all that is lent, driver by driver and CPUs first; nothing when no module of a driver is
 * loaded. The caller frees *lent with free().
 */
int ms_ledger(struct ms_lent **lent, size_t *n, struct ms_error *err);

/* A NUMA node's CPUs and memory that are lent or could be lent. Memory is in bytes. */
struct ms_numa_info {
	unsigned node;
	bool system; /* kept for the system: LWKs get its memory last */
	hwloc_bitmap_t lent_cpus, free_cpus;
	uint64_t total;	       /* including what is lent */
	uint64_t lent;	       /* to LWKs, or kept warm */
	uint64_t largest_lent; /* largest contiguous run of it */
	/*
	 * Memory that is free or could be vacated now; the parts of it that are whole large pages
	 * of 2 MB and of 1 GB; and the largest contiguous run of it.
	 */
	uint64_t free_4k, free_2m, free_1g;
	uint64_t largest_free;
};

/*
 * The CPUs and memory of this node of the cluster that are lent or could be lent (paper, table 1:
 * ihk_getihkinfo).
 */
struct ms_node_info {
	unsigned instances;
	hwloc_bitmap_t lent_cpus;
	hwloc_bitmap_t free_cpus; /* on-line and not of OsCpus=; Linux-only jobs may use them */
	uint64_t lent;
	uint64_t spare;		   /* bytes: the most of all 'free_4k' that Linux can give up */
	struct ms_numa_info *numa; /* by number */
	size_t n_numa;
};

/*
 * Looks at each page of the node, which takes seconds on a large node. The memory that could be
 * lent is an estimate, because Linux uses, frees and pins memory all the time.
 * ms_node_info_release() frees what *info holds.
 */
int ms_node_info(const struct ms_config *config, struct ms_node_info *info, struct ms_error *err);
void ms_node_info_release(struct ms_node_info *info);

/* The actions of ms_prepare(). */
enum ms_prepare_mode {
	MS_PREPARE_DRY_RUN, /* reports what it would do */
	MS_PREPARE,
	MS_PREPARE_UNDO,
};

/*
 * Separates the NUMA nodes for jobs from those for the system (SystemNodes=): puts the memory
 * blocks of job nodes into ZONE_MOVABLE, where the kernel never has pages of its own, and keeps
 * interrupts and services on the OS cores and system nodes. MS_PREPARE_UNDO undoes exactly what
 * earlier calls have changed; 'config' may be NULL then. Fails while anything is lent.
 *
 * Returns 0 when all is as it should be; 1 when some of it could not be done; -1 on error. *report,
 * with 0 and 1, tells what was done, what was not, and why: lwkctl(8) documents its members, and
 * json_object_put() frees it.
 */
int ms_prepare(const struct ms_config *config, enum ms_prepare_mode mode,
	       struct json_object **report, struct ms_error *err);

/* One finding of ms_check(), valid only while it is heard. */
struct ms_finding {
	enum { MS_FINE, MS_NOTE, MS_PROBLEM } level;
	const char *subject; /* a stable name, "module" */
	const char *text;    /* what was found */
	const char *to_do;   /* what to do about it; NULL with MS_FINE */
	/*
	 * The lines to write, when that is the remedy, and the name or the path of their file; else
	 * NULL.
	 */
	const char *lines;
	const char *file;
};

/*
 * Looks for whatever would break LWK jobs on this node, tells hear() each finding, and changes
 * nothing. Returns the number of findings with MS_PROBLEM.
 */
int ms_check(const char *config_path, void (*hear)(const struct ms_finding *, void *context),
	     void *context);

/*
 * Gives back what jobs have that are in LWK mode by their records, but over by Slurm; leaves all
 * else alone, such as what no prolog has announced, and everything while a switch goes on. Drains the node when something of it cannot be
 * given back, and returns -1 then. Tells say() what it does. Root.
 */
int ms_repair_over(ms_say say, void *context, struct ms_error *err);

#endif
