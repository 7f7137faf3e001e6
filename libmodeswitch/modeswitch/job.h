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

/* What the parts of a switch took, in the order in which they were done. */
struct ms_times {
	int64_t began_us; /* clock_us(); only while the switch goes on */
	uint64_t total_us;
	size_t n;
	struct ms_part {
		char name[16];
		uint64_t us;
	} parts[MS_MAX_PARTS];
};

/* "plan 12.3, cpus 230.1, ...": milliseconds. */
void ms_times_print(const struct ms_times *times, char *text, size_t size);

/* How far a job's switch got. */
enum ms_job_state {
	MS_JOB_SWITCHING, /* steps are being done, or undone */
	MS_JOB_ACTIVE,	  /* in LWK mode */
	MS_JOB_REFUSED,	  /* back in Linux-only mode; 'reason' says why */
	MS_JOB_STUCK,	  /* could not be undone; 'reason' says what is left */
	MS_JOB_WARM,	  /* over, and what it had is kept for the next LWK job */
	MS_JOB_QUIET,	  /* Linux-only, with --quiet-irqs; 'reason': why it cannot be */
};

/* The published record of a job on this node. */
struct ms_job {
	uint32_t job_id;
	uid_t uid;
	enum ms_job_state state;
	char image[MS_IMAGE_NAME_MAX + 1];
	char driver[16];
	char reason[1024];	   /* REFUSED, STUCK, QUIET; ACTIVE: what became of a dump */
	int instance;		   /* ACTIVE; -1 otherwise */
	char device[64];	   /* ACTIVE: the instance's device node, "/dev/lwk/N" */
	hwloc_bitmap_t lwk_cpus;   /* lent to the LWK */
	hwloc_bitmap_t linux_cpus; /* of the allocation, kept by Linux */
	hwloc_bitmap_t nodes;	   /* NUMA nodes of the memory lent */
	uint64_t memory;	   /* bytes lent */
	unsigned runs;		   /* physically contiguous runs of it */
	uint64_t largest_run;	   /* bytes */
	uint64_t vacated;	   /* bytes that other programs had there, moved away */
	unsigned switch_on_ms;	   /* ACTIVE: what the switch took */
	struct ms_times times;	   /* ACTIVE: the same, by its parts */
	unsigned keep_warm;	   /* ACTIVE, WARM: seconds, from the end of the job on */
	struct ms_limits proxies;  /* ACTIVE */
	/* ACTIVE: interrupts of devices per second, from boot on, of a CPU that is the LWK's now. */
	struct ms_irq_spread {
		double min, max, mean;
	} irqs_before;
	int64_t since; /* realtime seconds at which 'state' was reached */
};

/* "switching", "active", "refused", "stuck", "warm" */
const char *ms_job_state_word(enum ms_job_state state);

/* As it is published: lwkctl(8) documents the members. json_object_put() it. */
struct json_object *ms_job_to_json(const struct ms_job *job);

/*
 * Switches the job's share of this node to LWK mode: plan, steps, record. Root.
 * Returns 0 when ms_job_get() now tells MS_JOB_ACTIVE, or MS_JOB_REFUSED: then
 * everything taken has been given back and the reason is for the user. Returns -1
 * only when the node itself is no longer sound (MS_JOB_STUCK).
 */
int ms_switch_on(const struct ms_config *config, const struct ms_request *request,
		 struct ms_error *err);

/*
 * Records that this job cannot have LWK mode, and why, without touching anything.
 * For what fails before a request can be made (no configuration, say).
 */
int ms_switch_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err);

/*
 * Switches the job's share back by its journal, newest step first, and forgets
 * the job. 0 also when this node knows no such job. -1: some of it is still lent;
 * the record is MS_JOB_STUCK, and a later call tries again. 'times' tells what it took; it
 * may be NULL, and has no parts when there was nothing to do.
 */
int ms_switch_off(uint32_t job_id, struct ms_times *times, struct ms_error *err);

/*
 * The same for a job that has just ended, but with KeepWarm= its CPUs and memory stay lent that
 * long for another LWK job that wants just these; any other job's ms_switch_on() or ms_cool() gives
 * them back, and so does the end of that time.
 */
int ms_job_ended(uint32_t job_id, struct ms_times *times, struct ms_error *err);

/* Seconds for which a partition is still kept warm; 0: they are over; -1: there is none. */
int64_t ms_warm_left(void);

/*
 * Reads one job's record. 1: found, free what it holds with ms_job_release(); 0:
 * this node knows no such job; -1: error. Anybody may ask.
 */
int ms_job_get(uint32_t job_id, struct ms_job *job, struct ms_error *err);
void ms_job_release(struct ms_job *job);

/* All jobs this node knows, by job id. Free with ms_job_list_free(). */
int ms_job_list(struct ms_job **jobs, size_t *n, struct ms_error *err);
void ms_job_list_free(struct ms_job *jobs, size_t n);

/*
 * Switches off every job of this node for which 'alive' says false: what a crash
 * left behind. A job that is alive is not touched.
 */
int ms_reconcile(bool (*alive)(uint32_t job_id, void *context), void *context,
		 struct ms_error *err);

/*
 * Switches the job off, or all jobs with MS_ALL_JOBS, running or not, and then also gives back
 * what is lent and no job's: whatever state a crash left. Says each thing it does.
 */
#define MS_ALL_JOBS UINT32_MAX
int ms_reset(uint32_t job_id, ms_say say, void *context, struct ms_error *err);

/*
 * Gives back what is kept warm (KeepWarm=); 'over': only if its time is over. Quick when there is
 * nothing. Whoever starts a job that is no LWK job calls it first.
 */
int ms_cool(bool over, ms_say say, void *context, struct ms_error *err);

#endif
