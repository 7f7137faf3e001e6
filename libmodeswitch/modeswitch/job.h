/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs: switching a job's share of this node, and the record of each job that this node knows.
 */
#ifndef MODESWITCH_JOB_H
#define MODESWITCH_JOB_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <modeswitch/config.h>
#include <modeswitch/error.h>
#include <modeswitch/limits.h>
#include <modeswitch/plan.h>

#define MS_STATE_DIR "/run/slurm-lwk"
#define MS_LOG_DIR "/var/log/slurm-lwk"
#define MS_NO_INSTANCE (-1)

struct json_object;

#define MS_MAX_PARTS 32

/* The time that each part of a switch took, in the order in which the parts were done. */
struct ms_times {
	int64_t began_us; /* CLOCK_MONOTONIC, microseconds; only while the switch goes on */
	uint64_t total_us;
	size_t n;
	struct ms_part {
		char name[16];
		uint64_t us;
	} parts[MS_MAX_PARTS];
};

/* Writes "plan 12.3, cpus 230.1, ..." in milliseconds to 'text', 'size' bytes. */
void ms_times_print(const struct ms_times *times, char *text, size_t size);

/* The state of a job's switch. */
enum ms_job_state {
	MS_JOB_SWITCHING,  /* its steps are being done or undone */
	MS_JOB_ACTIVE,	   /* in LWK mode */
	MS_JOB_REFUSED,	   /* back in Linux-only mode; 'reason' says why */
	MS_JOB_STUCK,	   /* not all steps could be undone; 'reason' says which are left */
	MS_JOB_WARM,	   /* the job is over; its partition is kept for the next LWK job */
	MS_JOB_QUIET,	   /* Linux-only with --quiet-irqs; 'reason' if it cannot have that */
	MS_JOB_UNREADABLE, /* in lists only: the record cannot be read; 'reason' says why */
};

/* The published record of a job on this node. */
struct ms_job {
	uint32_t job_id;
	uid_t uid;
	enum ms_job_state state;
	char image[MS_IMAGE_NAME_MAX + 1];
	char driver[16];
	char reason[1024];   /* REFUSED, STUCK, QUIET, UNREADABLE; ACTIVE: the result of a dump */
	int instance;	     /* ACTIVE: its number; else MS_NO_INSTANCE */
	char device[64];     /* ACTIVE: the instance's device node, "/dev/lwk/N" */
	char launcher[4096]; /* ACTIVE: what starts programs; "": lwkexec */
	hwloc_bitmap_t lwk_cpus;   /* lent to the LWK */
	hwloc_bitmap_t linux_cpus; /* the rest of the allocation, which Linux keeps */
	hwloc_bitmap_t nodes;	   /* NUMA nodes of the memory lent */
	uint64_t memory;	   /* bytes lent */
	unsigned runs;		   /* physically contiguous runs of memory lent */
	uint64_t largest_run;	   /* bytes */
	uint64_t vacated;	   /* bytes of other programs that were moved away */
	unsigned switch_on_ms;	   /* ACTIVE: milliseconds that the switch took */
	struct ms_times times;	   /* ACTIVE: the time of each part of it */
	unsigned keep_warm;	   /* ACTIVE, WARM: seconds after the end of the job */
	bool memory_is_own;	   /* WARM: its memory has nothing of other users than the job's */
	struct ms_limits proxies;  /* ACTIVE */
	/*
	 * ACTIVE: device interrupts per second, from boot to the switch, of the CPUs that are the
	 * LWK's now: the least, the most, and the mean of a CPU.
	 */
	struct ms_irq_spread {
		double min, max, mean;
	} irqs_before;
	int64_t since;	    /* realtime seconds at which 'state' was reached */
	int64_t since_boot; /* 'since' in seconds of CLOCK_MONOTONIC; 0: unknown */
};

/* Returns the word of a state: "switching", "active", "refused", "stuck", "warm", "quiet". */
const char *ms_job_state_word(enum ms_job_state state);

/*
 * Returns the record as JSON, documented in lwkctl(8); free with json_object_put(). NULL: no
 * memory.
 */
struct json_object *ms_job_to_json(const struct ms_job *job);

/*
 * Notes that a switch of the job will begin, so that the job's end is not missed meanwhile: the prolog calls
 * this before it waits for anything. *when is the announcement's name, which ms_request.announced takes, in
 * milliseconds since the boot. 0 or -1. Root.
 */
int ms_switch_announce(uint32_t job_id, int64_t *when, struct ms_error *err);
/* Returns the job's announcement; -1: the job has ended since, or nobody has announced its switch. */
int64_t ms_switch_announced(uint32_t job_id);

/*
 * Switches the job's share of this node to LWK mode: plans, does the steps, publishes the record.
 * Returns 0 when the record now says MS_JOB_ACTIVE, or MS_JOB_REFUSED: then everything taken has
 * been given back, and the reason is for the user. Returns -1 when some of it could not be given
 * back (MS_JOB_STUCK), so that the node should be drained; and when the announced job has ended
 * (ms_switch_announced() is -1 then), which changes nothing. Root.
 */
int ms_switch_on(const struct ms_config *config, const struct ms_request *request,
		 struct ms_error *err);

/*
 * Records that this job cannot have LWK mode, and why, and touches nothing else; for failures
 * before there is a request, such as a missing configuration. Root.
 */
int ms_switch_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err);

/*
 * Switches the job's share back: undoes the steps in its journal, newest first, and forgets the
 * job. Returns 0 also when this node knows no such job. Returns -1 when some of its share is still
 * lent: the record says MS_JOB_STUCK, and a later call tries again. *times gets the time of each
 * part, no parts when there was nothing to do; it may be NULL. Root.
 */
int ms_switch_off(uint32_t job_id, struct ms_times *times, struct ms_error *err);

/*
 * Switches off a job that has just ended, but with KeepWarm= keeps its CPUs and memory lent for
 * that many seconds, for an LWK job that wants the same ones. They are given back when that time is
 * over, by ms_switch_on() for a job that wants others, and by ms_cool(). Root.
 */
int ms_job_ended(uint32_t job_id, struct ms_times *times, struct ms_error *err);

/* Returns the seconds for which a partition is still kept warm: 0 if over, -1 if there is none. */
int64_t ms_warm_left(void);

/*
 * Reads one job's record. Returns 1 with *job, whose contents ms_job_release() frees; 0 when this
 * node knows no such job; -1 on error. Every user may do so.
 */
int ms_job_get(uint32_t job_id, struct ms_job *job, struct ms_error *err);
void ms_job_release(struct ms_job *job);

/* Returns for how many seconds the job has been in its state, whatever the clock was set to. */
int64_t ms_job_age(const struct ms_job *job);

/*
 * Reads the records of all jobs, ascending by job id. A job whose record cannot be read is
 * MS_JOB_UNREADABLE, and may be in any state. ms_job_list_free() frees the list.
 */
int ms_job_list(struct ms_job **jobs, size_t *n, struct ms_error *err);
void ms_job_list_free(struct ms_job *jobs, size_t n);

#define MS_MPI_MAX (1ULL << 53)

/* The sums of a job's MPI programs with profiles, of all ranks on this node together. */
struct ms_mpi {
	uint64_t steps, ranks;
	uint64_t ns, mpi_ns;	       /* from MPI_Init to MPI_Finalize; in MPI */
	uint64_t messages, operations; /* operations: calls of collective ones */
	uint64_t bytes;	 /* of messages, and those that ranks gave to collective operations */
	char file[4096]; /* the profile, of the last step */
};

/*
 * Adds what a step has done to what the job's report will say of it, MS_MPI_MAX at most for each
 * number. Does nothing for a job that this node has no record of, which will have no report. Root.
 */
int ms_job_add_mpi(uint32_t job_id, const struct ms_mpi *step, struct ms_error *err);

/*
 * Switches off every job of this node for which alive() returns false, as after a crash; leaves the
 * others alone, and those that nobody has announced while the process lives that switched them. Root.
 */
int ms_reconcile(bool (*alive)(uint32_t job_id, void *context), void *context,
		 struct ms_error *err);

/*
 * Switches the job off, running or not. With MS_ALL_JOBS switches all jobs off and then gives back
 * whatever else is lent, in whatever state a crash left it. Tells say() each thing that it finds,
 * then each that it does. Root.
 */
#define MS_ALL_JOBS UINT32_MAX
enum ms_reset_mode {
	MS_RESET,
	MS_RESET_DRY_RUN, /* changes nothing */
	/*
	 * First kills the process that holds the lock of switching, as a switch does that hangs; in
	 * the end forgets journals that cannot be undone, if nothing is lent any more.
	 */
	MS_RESET_FORCE,
};
int ms_reset(uint32_t job_id, enum ms_reset_mode mode, ms_say say, void *context,
	     struct ms_error *err);

/*
 * Repairs what crashes have left and no running job needs: jobs that are stuck, switches that were
 * broken off, a warm partition whose time is over and, when the node knows no other job, whatever
 * is lent. Leaves all else alone, and everything while a switch goes on. Tells say() what it does.
 * Root.
 */
int ms_repair(ms_say say, void *context, struct ms_error *err);

/*
 * Gives back what KeepWarm= keeps; with 'over', only if its time is over. A start of a job that is
 * no LWK job calls it first. Quick when nothing is kept. Root.
 */
int ms_cool(bool over, ms_say say, void *context, struct ms_error *err);

/*
 * Waits until nothing is kept by KeepWarm= any more, and gives back what is over meanwhile. 1: another
 * process of the node does so already. Root.
 */
int ms_cool_when_over(ms_say say, void *context, struct ms_error *err);

#endif
