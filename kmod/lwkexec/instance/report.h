/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line about the LWK in the job's output (--lwk-report), when the last of its processes ends.
 */
#ifndef LWKEXEC_REPORT_H
#define LWKEXEC_REPORT_H

/*
 * Takes the order for a report from the environment, where the SPANK plugin leaves it. 'device' is
 * the instance's.
 */
void report_init(const char *device);
/* Does report_init() with report_text() and report_file() of the lwkexec before an exec. */
void report_resume(const char *device, const char *text, int file);
/* The beginning of the line; NULL: no report is wanted. */
const char *report_text(void);
/* The descriptor that the line goes to, or -1. */
int report_file(void);
/* Prints the line, if one is wanted: the last process of the instance has ended. */
void report_at_end(void);

#endif
