/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The published record of a job: what ms_job_get() tells everybody.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdint.h>
#include <json-c/json.h>

#include "modeswitch/error.h"
#include "modeswitch/job.h"

int record_publish(const struct ms_job *job, struct ms_error *err);
/* As ms_job_get(), for a caller who needs the job: 0, or -1 also when there is none. */
int record_find(uint32_t job_id, struct ms_job *job, struct ms_error *err);
int record_remove(uint32_t job_id, struct ms_error *err);

#endif
