/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The published record of a job, which ms_job_get() reads.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdint.h>
#include <json-c/json.h>

#include "modeswitch/error.h"
#include "modeswitch/job.h"

/* Has the job's state begin now. */
void record_stamp(struct ms_job *job);
/* Writes a job's record in place of an earlier one. */
int record_publish(const struct ms_job *job, struct ms_error *err);
/* Reads a job's record as ms_job_get() does, but a job without a record is an error, too. */
int record_find(uint32_t job_id, struct ms_job *job, struct ms_error *err);
/* Removes a job's record and its announcement; succeeds also when there is none. */
int record_remove(uint32_t job_id, struct ms_error *err);

#endif
