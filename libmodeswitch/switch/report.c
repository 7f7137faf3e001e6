// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/json.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"
#include "store/mpi_sums.h"

#define CONSOLE_LINES 20
#define CONSOLE_TAIL (2 * CONSOLE_LINES * 320) /* bytes; a line has 290 at most */
#define CONSOLE_READS 100

const char *report_dir = MS_LOG_DIR;
unsigned report_ms = 5000;

/* Reads the end of the console, from the beginning of a line on. */
static void console_tail(struct ms_watch *watch, char *text, size_t size)
{
	uint64_t position = 0;
	size_t length = 0;
	struct ms_error ignored;
	ssize_t got;

	/* An LWK that goes on writing must not keep the caller here. */
	for (int reads = 0; reads < CONSOLE_READS; reads++) {
		got = ms_watch_console(watch, &position, text + length, size - 1 - length,
				       &ignored);
		if (got <= 0)
			break;
		length += got;
		if (length < size - 1)
			continue;
		memmove(text, text + length / 2, length - length / 2);
		length -= length / 2;
	}
	text[length] = '\0';
}

/* Adds the last lines of the console, among them why the LWK has ended programs. */
static void add_console(struct json_object *report, struct ms_watch *watch)
{
	struct json_object *lines = json_object_new_array();
	char text[CONSOLE_TAIL] = "", *line, *rest = text;
	size_t n = 0;

	console_tail(watch, text, sizeof(text));
	while ((line = strsep(&rest, "\n")) && rest) {
		if (n == CONSOLE_LINES)
			json_object_array_del_idx(lines, 0, 1);
		else
			n++;
		json_object_array_add(lines, json_object_new_string(line));
	}
	json_object_object_add(report, "console", lines);
}

static void add_instance(struct json_object *report, uint32_t job_id)
{
	struct ms_instance_info info;
	struct ms_watch *watch;
	struct ms_usage usage;
	struct ms_error ignored; /* the report is useful without this part, too */

	if (ms_watch_open(job_id, &watch, &ignored) < 0)
		return;
	if (ms_watch_info(watch, &info, &ignored) == 0) {
		json_add_text(report, "instance_state", ms_instance_state_word(info.state));
		json_add_text(report, "message", info.message);
	}
	if (ms_watch_usage(watch, &usage, &ignored) == 1) {
		json_object_object_add(report, "usage", ms_usage_to_json(&usage));
		ms_usage_release(&usage);
	}
	add_console(report, watch);
	ms_watch_close(watch);
}

struct json_object *report_take(uint32_t job_id)
{
	struct json_object *report = NULL;
	struct ms_error ignored;
	struct ms_job job;

	if (ms_job_get(job_id, &job, &ignored) < 1)
		return NULL;
	if (job.state == MS_JOB_ACTIVE)
		report = ms_job_to_json(&job);
	if (report)
		json_object_object_add(report, "lasted", json_object_new_int64(ms_job_age(&job)));
	ms_job_release(&job);
	if (report) {
		struct json_object *mpi = mpi_sums_read(job_id);

		add_instance(report, job_id);
		if (mpi)
			json_object_object_add(report, "mpi", mpi);
	}
	return report;
}

/* Opens the file in report_dir, which is made if need be, and follows no link. */
static int open_log(void)
{
	int dir, fd;

	if (mkdir(report_dir, 0755) < 0 && errno != EEXIST)
		return -1;
	dir = open(report_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -1;
	fd = openat(dir, "jobs.json", O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	close(dir);
	return fd;
}

/* Appends the whole line or nothing: a full disk must not leave half a line. */
static int append(int fd, const char *line, size_t length)
{
	off_t before = lseek(fd, 0, SEEK_END);
	ssize_t written = write(fd, line, length);

	if (before >= 0 && written == (ssize_t)length)
		return 0;
	if (written >= 0)
		errno = ENOSPC;
	if (before >= 0 && written > 0 && ftruncate(fd, before) < 0)
		return -1;
	return -1;
}

struct line {
	const char *text;
	size_t length;
};

/* Runs in a child process. 0 or a negative errno. */
static int write_line(void *context)
{
	const struct line *line = context;
	int fd = open_log();

	return fd < 0 || append(fd, line->text, line->length) < 0 ? -errno : 0;
}

/*
 * Writes in a child process, which can be left behind: the file's disk or server may hang, and the
 * lock of switching is held.
 */
static int write_in_time(struct json_object *report)
{
	struct line line = { .text = json_object_to_json_string_ext(
				     report,
				     JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE) };
	char *text;
	int error, length = asprintf(&text, "%s\n", line.text);

	if (length < 0)
		return -ENOMEM;
	line.text = text;
	line.length = length;
	error = child_call_alone(write_line, &line, -1, clock_ms() + report_ms);
	free(text);
	return error;
}

void report_write(struct json_object *report, const struct ms_times *times, bool switched_off)
{
	struct json_object *steps;
	int error;

	if (!report)
		return;
	steps = json_object_new_array();
	for (size_t i = 0; times && i < times->n; i++) {
		struct json_object *step = json_object_new_object();

		json_add_text(step, "name", times->parts[i].name);
		json_object_object_add(step, "us", json_object_new_int64(times->parts[i].us));
		json_object_array_add(steps, step);
	}
	json_object_object_add(report, "switch_off_steps", steps);
	json_object_object_add(report, "switched_off", json_object_new_boolean(switched_off));
	json_object_object_add(report, "ended", json_object_new_int64(time(NULL)));
	error = write_in_time(report);
	if (error)
		syslog(LOG_DAEMON | LOG_WARNING,
		       "slurm-lwk: the record of an LWK job could not be written to %s/jobs.json: "
		       "%s; make room there, or see to its owner and mode",
		       report_dir, strerror(-error));
	json_object_put(report);
}
