/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of an LWK job that is over: one line of JSON in report_dir/jobs.json.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/job.h"

extern const char *report_dir; /* MS_LOG_DIR; tests change it */
extern unsigned report_ms;     /* milliseconds that writing may take; tests change it */

/*
 * Begins the report of a job whose LWK still runs. NULL: the job has no LWK now. report_write()
 * frees the report.
 */
struct json_object *report_take(uint32_t job_id);
/*
 * Adds how the job was switched off, and writes the report. 'times' may be NULL; so may 'report',
 * and then nothing is written. A failure goes to syslog(3) and nowhere else.
 */
void report_write(struct json_object *report, const struct ms_times *times, bool switched_off);

#endif
