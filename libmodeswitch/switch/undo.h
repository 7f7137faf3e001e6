/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switches a job's share of the node back by its journal. Each call wants the lock of switching
 * held and returns 0, or -1 when some of the share is still lent.
 */
#ifndef UNDO_H
#define UNDO_H

#include <stdint.h>
#include <sys/types.h>

#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "switch/steps/step.h"

/* Milliseconds that an undo waits for the lock: another switch may have to undo itself. */
#define UNDO_LOCK_MS 120000

/* Undoes the steps in switching->journal and removes the journal. */
int undo_switching(struct switching *switching, struct ms_error *err);

/*
 * Undoes the job's journal, if it has one; on failure the job's record is MS_JOB_STUCK. 'times',
 * which the caller has begun, gets how long each step took, and 'say' hears what is given back;
 * both may be NULL.
 */
int undo_job(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
	     struct ms_error *err);

/* Undoes the job's journal and removes its record. */
int undo_and_forget(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		    struct ms_error *err);

/* Undoes the job's journal, removes its record and writes its report (report.h). */
int switch_off_locked(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		      struct ms_error *err);

/* Publishes that the job is MS_JOB_STUCK, with the reason in 'err'; ignores a failure. */
void publish_stuck(uint32_t job_id, uid_t uid, const struct ms_error *err);

#endif
