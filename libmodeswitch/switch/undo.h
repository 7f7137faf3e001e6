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

/* An undo waits so long for the lock: another switch may have to undo itself. */
#define UNDO_LOCK_MS 120000

/* Undoes the steps in switching->journal and removes the journal. */
int undo_switching(struct switching *switching, struct ms_error *err);

/*
 * Does the same for the job's journal, if it has one; on failure its record is MS_JOB_STUCK.
 * 'times' are begun by the caller and get the parts; NULL: nobody wants to know.
 */
int undo_job(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
	     struct ms_error *err);

/* Does the same and removes the job's record. */
int undo_and_forget(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		    struct ms_error *err);

/* Does the same and writes the job's report (report.h). */
int switch_off_locked(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		      struct ms_error *err);

/* Publishes, if it can, that the job is MS_JOB_STUCK, with the reason in 'err'. */
void publish_stuck(uint32_t job_id, uid_t uid, const struct ms_error *err);

#endif
