/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SWITCH_H
#define SWITCH_H

#include <stdint.h>

#include "modeswitch/error.h"
#include "modeswitch/job.h"

/* What an undo may wait for another switch, which may have to undo itself. */
#define UNDO_LOCK_MS 120000

/* All of these with the lock of switching held. */

/*
 * Undoes what the job's journal says, if it has one. -1: its record is MS_JOB_STUCK. 'times',
 * begun by the caller, gets the parts; NULL: nobody wants to know.
 */
int switch_undo(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		struct ms_error *err);
/* The same, and forgets the job. */
int switch_off_locked(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		      struct ms_error *err);

#endif
