/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state directory: what this node must remember of its jobs until it reboots.
 *   lock             held while a switch changes the machine
 *   topology.xml     the machine with nothing lent
 *   sysfs            … as programs look at it; sysview.c, a directory, for everybody
 *   prepared.json    prepare.c, for root
 *   quiet.json       quiet_state.c, for root
 *   jobs/ID.journal  journal.c, for root
 *   jobs/ID.json     record.c, for everybody
 *   jobs/ID.away     home.c, for root
 *   jobs/ID.sys      sysview.c, a directory, for everybody
 * It is in /run, which is right: a reboot ends all that is recorded here.
 */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <json-c/json.h>

#include "modeswitch/error.h"

extern const char *state_dir; /* MS_STATE_DIR, but for tests */

/* Makes the directories if need be; opens jobs/. -1 on failure. */
int state_open_jobs(struct ms_error *err);
/* The same for anybody; -ENOENT as -1 with errno set, and no directory is made. */
int state_open_jobs_readonly(void);

/*
 * Takes the lock of switching; waits at most so long for any one holder, because many jobs may
 * begin or end at the same instant, and take turns. A file descriptor; closing it gives the
 * lock back, and so does the end of this process and of its children.
 */
int state_lock(unsigned wait_ms, struct ms_error *err);

/* The job ids for which jobs/ID.SUFFIX is there, ascending; -1 on error. Free with free(). */
ssize_t state_jobs(const char *suffix, uint32_t **ids, struct ms_error *err);

/* Is there a journal or a record of that job? */
bool state_knows_job(uint32_t job_id);

/* Writes jobs/NAME whole or not at all, and durably. */
int state_replace_file(const char *name, const char *text, mode_t mode, struct ms_error *err);

/* Writes NAME of the state directory itself likewise, for root only. */
int state_keep(const char *name, const char *text, struct ms_error *err);

/*
 * The JSON object that is NAME of the state directory, the caller's; an empty one if there is no
 * such file. 0; or -1 and *object is NULL: 'err' then says that 'what' was wanted, and 'remedy'.
 */
int state_read(const char *name, const char *what, const char *remedy, struct json_object **object,
	       struct ms_error *err);

#endif
