/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks for what 'lwkctl reset' gives back, and changes nothing.
 */
#ifndef LOOK_H
#define LOOK_H

#include <stdint.h>

#include "modeswitch/error.h"
#include "switch/steps/step.h"

/*
 * Tells all->say what records, journals and the ledgers show of the job, or of all jobs with
 * MS_ALL_JOBS, then also what no job has. 0; -1 when some of it cannot be read, after telling the
 * rest.
 */
int reset_look(const struct switching *all, uint32_t job_id, struct ms_error *err);

#endif
