/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the migrator share. One file, one thing:
 *   migrate.c          ms_migrate(): checks, the methods
 *   migrate_targets.c  which processes
 *   migrate_pages.c    which pages they have where, and which are in use
 *   migrate_move.c     moves some pages and finds out what became of each
 *   migrate_throttle.c when to go on
 *   migrate_cpusets.c  where new pages come from
 *   migrate_state.c    words and JSON
 */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "modeswitch/error.h"
#include "modeswitch/migrate.h"

#define PAGE_BYTES 4096UL
#define MAX_NODES 1024

/* A page, or a huge page. */
struct migrate_page {
	uint64_t word;	/* its address with LWKPART_PAGE_* in the lower bits */
	uint16_t score; /* how much in use; see page_note() */
	uint8_t state;	/* enum page_state */
	bool hot;	/* was ever seen in use */
};

enum page_state {
	PAGE_WAITING,
	PAGE_MOVED,
	PAGE_GONE,
	PAGE_LEFT, /* plus an enum ms_migrate_left */
};

struct migrate_range {
	uint64_t start, end;
};

/* A process, and which of its pages; sorted. */
struct migrate_home {
	pid_t pid;
	uint64_t started; /* as /proc/PID/stat has it */
	const struct migrate_range *ranges;
	size_t n;
};

struct migrate_process {
	pid_t pid;
	uint64_t started; /* with the PID it names a process for good */
	int pidfd;
	bool gone;		    /* or not ours to touch */
	bool allowed;		    /* to have memory where it shall go: some has gone */
	struct migrate_page *pages; /* by address */
	size_t n, room;
	struct migrate_range *mappings; /* without lwkpart.ko only */
	size_t n_mappings;
	const struct migrate_home *only; /* its other pages are left alone; NULL: all are wanted */
};

struct throttle {
	double cpu_share; /* 0: no limit */
	double pressure;  /* what of cpu_share the system leaves us: 0 to 1 */
	uint64_t bandwidth;
	int64_t cpu_due, bandwidth_due; /* ns, CLOCK_MONOTONIC */
	int64_t cpu_seen;		/* ns */
	int64_t stalled, stalled_at;	/* PSI: µs, and when it was read (ns) */
};

/* A cpuset that is changed, or was. */
struct migrate_cpuset {
	char *path;
	char *mems;   /* as it was */
	bool v2;      /* then writing into it moves pages at once */
	bool migrate; /* as memory_migrate was */
};

struct migration {
	const struct ms_migrate_request *request;
	/* Memory of any process, if it is in these ranges of physical memory. */
	const struct migrate_range *physical;
	size_t n_physical;
	bool every_process;
	bool root; /* asked once: it would be a system call for each page */
	/* Before these move; -1: they shall not. */
	int (*found)(const struct migration *migration, void *context, struct ms_error *err);
	void *found_context;
	/* Only these pages. */
	const struct migrate_home *homes;
	size_t n_homes;

	struct ms_migrate_state state;
	struct migrate_process *processes;
	size_t n_processes;
	struct throttle throttle;
	int device; /* /dev/lwkpart, or -1 */
	int64_t start_ns, cpu_start_ns, heard_ns;
	unsigned n, slice; /* pages of a round; of a part of it that ends before long */
	unsigned *to;	   /* node numbers */
	unsigned n_to;
	int64_t scanned_ns;  /* when use was last looked at */
	double move_cpu;     /* seconds */
	uint64_t room_until; /* of state.moved, for which room was seen */
	uint64_t floor;	     /* bytes that stay free on each node */
	struct migrate_cpuset *cpusets;
	size_t n_cpusets;
	bool full;
	int scan_error; /* of a process that has not ended; 0: none */
};

/* migrate.c */
bool migration_stopped(struct migration *migration);
void migration_note(struct migration *migration, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Tells the caller how far it is, if it is time to. */
void migration_tell(struct migration *migration);
/* Ranges of physical memory that are to be left, by address. */
struct migrate_away {
	const struct migrate_range *ranges;
	size_t n; /* 1 or more */
	/* Sees the pages before they move; -1: they shall not. */
	int (*found)(const struct migration *migration, void *context, struct ms_error *err);
	void *context;
};

/*
 * Moves what any process has on the nodes 'from' in physical ranges away to 'to', by address,
 * within the limits of 'request', of which neither targets nor method are looked at. For the
 * switch: before blocks go off-line. cpusets stay as they are. Root, with lwkpart.ko loaded.
 */
int migrate_away(const struct ms_migrate_request *request, const struct migrate_away *away,
		 struct ms_migrate_state *state, struct ms_error *err);
/* Moves these pages only, as far as their processes are still there; cpusets stay as they are. */
int migrate_home(const struct ms_migrate_request *request, const struct migrate_home *homes,
		 size_t n, struct ms_migrate_state *state, struct ms_error *err);

/* migrate_targets.c */
/* Adds processes that are not known yet. The number added, or -1. */
int targets_find(struct migration *migration, struct ms_error *err);
/* The job of Slurm in whose cgroup a process is; 0: none. */
uint32_t job_of_process(pid_t pid);
/* Did it end, or become another program's PID? */
bool target_gone(struct migrate_process *process);
void targets_free(struct migration *migration);

/* migrate_pages.c */
void pages_open(struct migration *migration);
/*
 * Lists part of what a process has on the nodes, from *at until 'end'; *at becomes where to go
 * on, or PAGES_END. The number of words, or -1 when the process is gone.
 */
#define PAGES_END UINT64_MAX
#define PAGES_CHUNK 4096U
ssize_t pages_scan(struct migration *migration, struct migrate_process *process, uint64_t *at,
		   uint64_t end, bool clear, uint64_t *words, size_t room);
/*
 * Looks at all pages of all processes: enters new ones, and notes use. With 'clear', what is used from
 * now on is what the next scan finds. 'window_ms' is since the last such call; 0: use is not noted.
 */
int pages_scan_all(struct migration *migration, bool clear, unsigned window_ms,
		   struct ms_error *err);
/* Forgets all use up to now. */
int pages_clear(struct migration *migration, struct ms_error *err);
/*
 * Estimates how many of the known pages (of 4 KB) that are on the nodes were used since the last call
 * that cleared, from a part of them; clears nothing.
 */
uint64_t pages_sample(struct migration *migration);
struct migrate_page *pages_add(struct migration *migration, struct migrate_process *process,
			       uint64_t word);
/* Is the page there at all? */
bool page_present(const struct migrate_process *process, uint64_t address);
uint64_t page_bytes(const struct migrate_page *page);
uint64_t page_address(const struct migrate_page *page);

/* migrate_move.c */
/* 0, or -1 when going on makes no sense. */
int pages_move(struct migration *migration, struct migrate_process *process,
	       struct migrate_page **pages, size_t n, struct ms_error *err);

/* migrate_throttle.c */
int64_t monotonic_ns(void);
int64_t thread_cpu_ns(void);
void throttle_init(struct throttle *throttle, const struct ms_migrate_request *request);
/* Sleeps 'ms', and as long as the limits ask for; false when stopped meanwhile. */
bool throttle_wait(struct migration *migration, uint64_t bytes, unsigned ms);
/* Looks whether programs wait for CPUs, and gives way. */
void throttle_heed_pressure(struct throttle *throttle);

/* migrate_cpusets.c */
int cpusets_open(struct migration *migration, struct ms_error *err);
/* After the pages have moved. */
void cpusets_close(struct migration *migration, bool done);
void cpusets_look_at_policies(struct migration *migration);

#endif
