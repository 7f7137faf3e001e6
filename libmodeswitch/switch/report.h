/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an LWK job was, for whoever asks when it is over: one line of JSON in report_dir/jobs.json.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/job.h"

extern const char *report_dir; /* MS_LOG_DIR, but for tests */

/*
 * Reads what there is to say of a job whose LWK still runs; NULL when it has none, or had.
 * report_write() frees it.
 */
struct json_object *report_take(uint32_t job_id);
/*
 * Adds how the job was switched off (times: NULL when nobody measured), and writes it. A record that cannot be written is no reason
 * to fail: syslog(3) tells. NULL is nothing to write.
 */
void report_write(struct json_object *report, const struct ms_times *times, bool switched_off);

#endif
