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

/* In which order pages are moved: lwkctl(8) tells what each is good for. */
enum ms_migrate_method { MS_PERIODICAL, MS_SEVERE, MS_MILD, MS_ADAPTIVE, MS_MIGRATE_METHODS };

/* Why memory is still where it was. */
enum ms_migrate_left {
	MS_LEFT_PINNED,	      /* in use by a device or by the kernel, time and again */
	MS_LEFT_SHARED,	      /* with others; only root moves such pages */
	MS_LEFT_INACCESSIBLE, /* mapped without any access (PROT_NONE) */
	MS_LEFT_HUGETLB,      /* no free huge page where it should go */
	MS_LEFT_FULL,	      /* no free memory where it should go */
	MS_LEFT_SPECIAL,      /* of a mapping that the kernel does not move */
	MS_LEFT_RETURNED,     /* was moved, and something moved or made it anew back there */
	MS_LEFT_DENIED,	      /* another user's process */
	MS_LEFT_NOT_TRIED,    /* stopped before */
	MS_LEFT_REASONS
};

/* Kinds of pages; a page can be of several. */
enum ms_migrate_kind {
	MS_KIND_HUGE,	 /* transparent huge pages, moved whole */
	MS_KIND_HUGETLB, /* of hugetlbfs */
	MS_KIND_FILE,	 /* of files and shared memory */
	MS_KIND_SHARED,	 /* mapped by several processes */
	MS_KIND_KSM,
	MS_KIND_MLOCKED,
	MS_KINDS
};

/* How far a migration is, or how it ended. Memory in bytes. */
struct ms_migrate_state {
	const char *source; /* of what is known about use: "accessed", "soft-dirty", "none" */
	unsigned processes;
	unsigned rounds; /* of n pages */
	unsigned scans;	 /* of all pages */
	uint64_t found;	 /* on the nodes to be left, from the start or later */
	uint64_t moved;
	uint64_t gone; /* freed meanwhile */
	uint64_t left[MS_LEFT_REASONS];
	uint64_t kinds[MS_KINDS]; /* of what was moved */
	uint64_t hot_found;	  /* known to have been in use lately */
	uint64_t hot_moved;
	double seconds;
	double cpu_seconds;	 /* of the caller's thread, user and system */
	double scan_cpu_seconds; /* part of it: to learn which pages there are, and used */
	bool complete;		 /* all that can move has moved */
	bool stopped;		 /* because stop() said so */
	char notes[2048];	 /* what else is to be known; one a line */
};

struct ms_migrate_request {
	/* Whose memory: one of these; the others are 0 or NULL. */
	pid_t pid;	    /* a process and its descendants */
	uint32_t job_id;    /* a job of Slurm on this node */
	const char *cgroup; /* the processes in a cgroup, a directory, and below it */

	hwloc_const_bitmap_t from, to; /* NUMA nodes */
	enum ms_migrate_method method;
	unsigned pages;	    /* n: so many pages of 4 KB, then a sleep; 0: chosen here */
	int sleep_ms;	    /* t: that sleep; -1: chosen here */
	double cpu_percent; /* of one CPU, at most; 0: no limit */
	uint64_t bandwidth; /* bytes per second, at most; 0: no limit */
	bool dry_run;	    /* find the pages, but change nothing */

	/* Asked at least every 100 ms; true ends the work. May be NULL. */
	bool (*stop)(void *context);
	/* Hears how far it is, several times a second. May be NULL. */
	void (*hear)(const struct ms_migrate_state *state, void *context);
	void *context;
};

#define MS_MIGRATE_MIN_PAGES 64U /* smaller rounds cost more than they spare */
#define MS_MIGRATE_MAX_SLEEP_MS 3600000

/*
 * Moves pages of running processes between NUMA nodes: n pages, a sleep of t ms, and so
 * on, within the limits, the order by 'method' (Urushida and Hirotsu, Improvement of
 * Memory Migration in Docker container scheduling on NUMA systems). No page is moved
 * twice. cpusets that hold nothing but these processes are changed so that new pages
 * come from 'to'. A user may move memory of own processes; root of all.
 * 0 with *state told; -1 also with *state, of how far it came: then the cpusets are as
 * they were, and every page is whole on one node or the other.
 */
int ms_migrate(const struct ms_migrate_request *request, struct ms_migrate_state *state,
	       struct ms_error *err);

/* "periodical", "severe", "mild", "adaptive" */
const char *ms_migrate_method_word(enum ms_migrate_method method);
/* "pinned", … */
const char *ms_migrate_left_word(enum ms_migrate_left left);
/* "huge", … */
const char *ms_migrate_kind_word(enum ms_migrate_kind kind);
/* As lwkctl(8) documents it. json_object_put() it. */
struct json_object *ms_migrate_state_to_json(const struct ms_migrate_state *state);

/*
 * Brings pages of Linux jobs home to the NUMA nodes that LWK jobs had taken and have given back,
 * within RehomeRate= and RehomeCpu=, or forgets them with Rehome=no; then ends. It stands back
 * while a switch is going on. -1: some are still away, and will be tried again. Root.
 */
int ms_rehome(const struct ms_config *config, ms_say say, void *context, struct ms_error *err);
/* Starts `lwkctl rehome` if there are any; for slurmd's start. */
void ms_rehome_resume(void);

#endif
