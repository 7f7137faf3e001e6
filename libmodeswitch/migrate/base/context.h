/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of one migration, which all files of migrate/ share.
 */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "migrate/base/page.h"
#include "migrate/base/range.h"
#include "modeswitch/error.h"
#include "modeswitch/migrate.h"

/* The progress of a migration with its limits; throttle.c. */
struct throttle {
	double cpu_share;		/* of one CPU: 0 to 1; 0: no limit */
	double pressure;		/* the part of cpu_share that busy CPUs leave us: 0 to 1 */
	uint64_t bandwidth;		/* bytes per second; 0: no limit */
	int64_t cpu_due, bandwidth_due; /* ns, CLOCK_MONOTONIC */
	int64_t cpu_seen;		/* ns */
	int64_t stalled, stalled_at;	/* PSI: µs, and when it was read (ns) */
};

struct migrate_process {
	pid_t pid;
	uint64_t started; /* with the PID it names a process for good */
	int pidfd;
	bool gone;    /* has ended, or is not ours to touch */
	bool locked;  /* is gone for us because it keeps its memory map locked */
	bool allowed; /* its cpuset allows the nodes to move to: some page has moved */
	struct migrate_page *pages; /* by address */
	size_t n, room;
	struct migrate_range *mappings; /* without lwkpart.ko only */
	size_t n_mappings;
	const struct migrate_selection *only; /* no other pages move; NULL: all move */
};

/* A cpuset that the migration changes. */
struct migrate_cpuset {
	char *path;
	char *mems;   /* before the migration */
	bool v2;      /* of cgroup version 2: writing cpuset.mems moves pages at once */
	bool migrate; /* memory_migrate before the migration */
};

struct migration {
	const struct ms_migrate_request *request;
	/* The memory of all processes in these physical ranges, for migrate_vacate(). */
	const struct migrate_range *physical;
	size_t n_physical;
	bool every_process;
	/* A process that runs the migration for the caller is given up when it shows no life for so long. */
	int64_t patience_ms;	   /* 0: the caller runs it itself */
	volatile int64_t deadline; /* clock_ms() */
	int (*found)(const struct migration *migration, void *context, struct ms_error *err);
	void *found_context;
	/* The pages that move, for migrate_selected(). */
	const struct migrate_selection *selections;
	size_t n_selections;

	struct ms_migrate_state state;
	bool root; /* asked once: it would be a system call for each page */
	struct migrate_process *processes;
	size_t n_processes;
	size_t locked; /* of these, counted at the end */
	struct throttle throttle;
	int device; /* /dev/lwkpart, or -1 */
	int64_t start_ns, cpu_start_ns, heard_ns;
	unsigned n;	/* pages of 4 KB in a round */
	unsigned slice; /* pages of 4 KB in one call, part of a round, that ends soon */
	unsigned *to;	/* node numbers; full nodes are taken off */
	unsigned n_to;
	int64_t scanned_ns;  /* when use was last looked at */
	double move_cpu;     /* seconds of CPU time in move.c */
	uint64_t room_until; /* the nodes have room until state.moved reaches this many bytes */
	uint64_t floor;	     /* bytes that stay free on each node */
	struct migrate_cpuset *cpusets;
	size_t n_cpusets;
	bool full;	/* all nodes to move to are */
	int scan_error; /* errno of a process that has not ended; 0: none */
};

/* Asks the caller whether to stop, and remembers that it said so. It is a sign of life, too. */
bool migration_stopped(struct migration *migration);
/*
 * Makes an ioctl of lwkpart.ko for a process. Where the caller can stop the migration, it waits for a
 * process whose memory map is locked; the library's own migrations get EBUSY, and do without that process.
 * 0, or -1 with errno.
 */
int migration_call(struct migration *migration, unsigned long command, void *argument);
/* Adds a line to the notes of the state. */
void migration_note(struct migration *migration, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Updates the seconds of the state. */
void migration_take_times(struct migration *migration);
/* Tells the caller the state, unless it has heard it less than 200 ms ago. */
void migration_tell(struct migration *migration);

#endif
