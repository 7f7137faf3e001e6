/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LWK instance of a job, as list and info show it. */
#ifndef LWKCTL_INSTANCE_H
#define LWKCTL_INSTANCE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

struct instance {
	struct ms_job *job; /* the caller's */
	struct ms_instance_info info;
	struct ms_pmu pmu; /* all 0 when the LWK does not tell it */
};

/* Reads 'info' and 'pmu'; false, with the reason, when the job has no LWK or has just ended. */
bool instance_read(uint32_t job_id, struct instance *instance, struct ms_error *err);

/* The job as in its record, and the instance; the caller frees it with json_object_put(). */
struct json_object *instance_to_json(const struct instance *instance);

#endif
