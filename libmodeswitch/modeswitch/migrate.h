/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration: moving memory of running processes between NUMA nodes, with or without an LWK.
 */
#ifndef MODESWITCH_MIGRATE_H
#define MODESWITCH_MIGRATE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <modeswitch/config.h>
#include <modeswitch/error.h>

struct json_object;

/* The order in which pages are moved; lwkctl-migrate(8) tells what each is good for. */
enum ms_migrate_method { MS_PERIODICAL, MS_SEVERE, MS_MILD, MS_ADAPTIVE, MS_MIGRATE_METHODS };

/* The reason why a page is still on a node that it should leave. */
enum ms_migrate_left {
	MS_LEFT_PINNED,	      /* a device or the kernel uses it at every try */
	MS_LEFT_SHARED,	      /* shared with other processes; only root moves it */
	MS_LEFT_INACCESSIBLE, /* mapped without any access (PROT_NONE) */
	MS_LEFT_HUGETLB,      /* its destination has no free huge page */
	MS_LEFT_FULL,	      /* its destination has no free memory */
	MS_LEFT_SPECIAL,      /* the kernel does not move pages of its mapping */
	MS_LEFT_RETURNED,     /* was moved, and is back or was allocated there again */
	MS_LEFT_DENIED,	      /* its process is another user's */
	MS_LEFT_NOT_TRIED,    /* the migration was stopped before, or the process is locked */
	MS_LEFT_REASONS
};

/* Kinds of pages; a page can be of several kinds. */
enum ms_migrate_kind {
	MS_KIND_HUGE,	 /* transparent huge pages, moved whole */
	MS_KIND_HUGETLB, /* pages of hugetlbfs */
	MS_KIND_FILE,	 /* pages of files and of shared memory */
	MS_KIND_SHARED,	 /* mapped by several processes */
	MS_KIND_KSM,
	MS_KIND_MLOCKED,
	MS_KINDS
};

/* The progress of a migration, or its result. Memory is in bytes. */
struct ms_migrate_state {
	const char *source; /* how use of pages is known: "accessed", "soft-dirty", "none" */
	unsigned processes;
	unsigned rounds; /* of n pages each */
	unsigned scans;	 /* looks at all pages */
	uint64_t found;	 /* on the nodes to be left, at the start or later */
	uint64_t moved;
	uint64_t gone; /* freed before they could be moved */
	uint64_t left[MS_LEFT_REASONS];
	uint64_t kinds[MS_KINDS]; /* part of 'moved' that is of each kind */
	uint64_t hot_found;	  /* part of 'found' known to be in use */
	uint64_t hot_moved;
	double seconds;
	double cpu_seconds;	 /* user and system time of the caller's thread */
	double scan_cpu_seconds; /* part of it: finding pages and whether they are used */
	bool complete;		 /* all pages that can move have moved */
	bool stopped;		 /* stop() returned true */
	char notes[2048];	 /* further findings, one a line */
};

struct ms_migrate_request {
	/* Exactly one of these names the processes; the others are 0 or NULL. */
	pid_t pid;	    /* a process and its descendants */
	uint32_t job_id;    /* a job of Slurm on this node */
	const char *cgroup; /* a directory: the processes in this cgroup and below it */

	hwloc_const_bitmap_t from, to; /* NUMA nodes; the caller's */
	enum ms_migrate_method method;
	unsigned pages;	    /* n: pages of 4 KB in a round; 0: the library chooses */
	int sleep_ms;	    /* t: sleep after each round; -1: the library chooses */
	double cpu_percent; /* the most to use, of one CPU; 0: no limit */
	uint64_t bandwidth; /* the most to move, bytes per second; 0: no limit */
	bool dry_run;	    /* find the pages, move none */

	/* Called at least every 100 ms; returns true to end the work. May be NULL. */
	bool (*stop)(void *context);
	/* Called several times a second with the state. May be NULL. */
	void (*hear)(const struct ms_migrate_state *state, void *context);
	void *context;
};

#define MS_MIGRATE_MIN_PAGES 64U /* smaller rounds cost more CPU time than they save */
#define MS_MIGRATE_MAX_SLEEP_MS 3600000

/*
 * Moves pages of running processes from some NUMA nodes to others: n pages, a sleep of t ms, and so
 * on, within the limits, in the order of 'method' (Urushida and Hirotsu, Improvement of Memory
 * Migration in Docker container scheduling on NUMA systems). Moves no page twice. Changes cpusets
 * that hold only these processes, so that new pages come from 'to'. Users may move memory of their
 * own processes, root that of all. A caller whose own cpuset lacks nodes of 'to' leaves it. Fills
 * *state also on failure; then the cpusets are as they were, and every page is whole on one node or
 * the other.
 */
int ms_migrate(const struct ms_migrate_request *request, struct ms_migrate_state *state,
	       struct ms_error *err);

/*
 * The next three calls return the words for people and for JSON: "periodical", "severe", "mild" or
 * "adaptive"; "pinned" and so on; "huge" and so on.
 */
const char *ms_migrate_method_word(enum ms_migrate_method method);
const char *ms_migrate_left_word(enum ms_migrate_left left);
const char *ms_migrate_kind_word(enum ms_migrate_kind kind);
/*
 * Returns the JSON that lwkctl-migrate(8) documents, to be freed with json_object_put(); NULL: no
 * memory.
 */
struct json_object *ms_migrate_state_to_json(const struct ms_migrate_state *state);

/*
 * Moves pages of Linux jobs back to the NUMA nodes from which they were vacated for LWK jobs, after
 * those have given the nodes back, within RehomeRate= and RehomeCpu=; with Rehome=no forgets these
 * pages. Waits while a switch goes on, and returns when it is done; at once when another process does so,
 * which then looks for pages once more. -1: some pages are still away; a later call tries again. Root.
 */
int ms_rehome(const struct ms_config *config, ms_say say, void *context, struct ms_error *err);
/* Starts `lwkctl rehome` if there are such pages. The start of slurmd calls it. Root. */
void ms_rehome_resume(void);

#endif
