/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts: Linux's counts of them, and keeping those of devices away from a Linux-only job.
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

/* What Linux counts as one interrupt. */
struct ms_irq {
	char name[16];	  /* "43"; or "LOC", of the kernel's own */
	char label[64];	  /* of the devices; or what it is for */
	bool device;	  /* a device's */
	uint64_t *counts; /* since boot, by place in ms_irqs.cpus */
};

struct ms_irqs {
	int64_t when_us; /* of a clock that only goes forward */
	unsigned *cpus;	 /* that are on-line */
	size_t n_cpus;
	struct ms_irq *irqs;
	size_t n_irqs;
};

/* Free what it holds with ms_irqs_release(). Anybody may ask. */
int ms_irqs_read(struct ms_irqs *irqs, struct ms_error *err);
void ms_irqs_release(struct ms_irqs *irqs);

/* The sum of a CPU's, of devices or of the others; 0 for a CPU that is not on-line. */
uint64_t ms_irqs_of_cpu(const struct ms_irqs *irqs, unsigned cpu, bool devices);

#define MS_QUIET_INTERVAL 10.0 /* seconds between two looks at interrupts */

/*
 * Keeps device interrupts away from a Linux-only job's CPUs as long as it runs, and starts a
 * process that sees to it. Its record is MS_JOB_QUIET. ms_switch_off() or ms_job_ended() end it:
 * then every interrupt has the CPUs that it had, unless somebody else has given it others. Root.
 */
int ms_quiet_begin(const struct ms_config *config, uint32_t job_id, uid_t uid,
		   hwloc_const_bitmap_t cpus, struct ms_error *err);

/* Records that such a job cannot have it, and why. */
int ms_quiet_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err);

/* Starts the process that sees to it, should there be such jobs and no such process. Root. */
int ms_quiet_resume(struct ms_error *err);

/* That process: returns when there are no such jobs any more, or at once when it is there already. */
int ms_quiet_watch(double interval, struct ms_error *err);

#endif
