/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts: Linux's counts of them, and keeping device interrupts away from a Linux-only job.
 */
#ifndef MODESWITCH_INTERRUPTS_H
#define MODESWITCH_INTERRUPTS_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <modeswitch/config.h>
#include <modeswitch/error.h>

/* One row of /proc/interrupts. */
struct ms_irq {
	char name[16];	  /* a number, "43", or the name of a kernel's interrupt, "LOC" */
	char label[64];	  /* the names of its devices, or its purpose */
	bool device;	  /* a device sends it */
	uint64_t *counts; /* since boot; counts[i] is of CPU ms_irqs.cpus[i] */
};

struct ms_irqs {
	int64_t when_us; /* CLOCK_MONOTONIC at the time of reading, microseconds */
	unsigned *cpus;	 /* numbers of the CPUs that are on-line, ascending */
	size_t n_cpus;
	struct ms_irq *irqs;
	size_t n_irqs;
};

/* Reads all counts. Every user may do so. ms_irqs_release() frees what *irqs holds. */
int ms_irqs_read(struct ms_irqs *irqs, struct ms_error *err);
void ms_irqs_release(struct ms_irqs *irqs);

/* Returns one CPU's sum of device interrupts or of all others; 0 for a CPU that is off-line. */
uint64_t ms_irqs_of_cpu(const struct ms_irqs *irqs, unsigned cpu, bool devices);

#define MS_QUIET_INTERVAL 10.0 /* seconds between two passes of ms_quiet_watch() */

/*
 * Moves device interrupts away from the CPUs of a Linux-only job, and starts the process that keeps
 * them away while the job runs (ms_quiet_watch()). The job's record has state MS_JOB_QUIET.
 * ms_switch_off() and ms_job_ended() end it: each interrupt gets the CPUs back that it had, unless
 * somebody else has given it others since. Root.
 */
int ms_quiet_begin(const struct ms_config *config, uint32_t job_id, uid_t uid,
		   hwloc_const_bitmap_t cpus, struct ms_error *err);

/* Records that a job cannot have --quiet-irqs, and why. Root. */
int ms_quiet_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err);

/* Starts that process again if there are such jobs and it does not run. Root. */
int ms_quiet_resume(struct ms_error *err);

/*
 * Does the work of that process: looks at the interrupts every 'interval' seconds. Returns when
 * there are no such jobs any more, and at once when the process runs already.
 */
int ms_quiet_watch(double interval, struct ms_error *err);

#endif
