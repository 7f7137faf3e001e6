// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/undo.h"

#include <errno.h>
#include <stdio.h>

#include "interrupts/quiet/quiet.h"
#include "migrate/home/rehome.h"
#include "store/record.h"
#include "store/state.h"
#include "switch/engine.h"
#include "switch/report.h"
#include "switch/steps/table.h"

void publish_stuck(uint32_t job_id, uid_t uid, const struct ms_error *err)
{
	struct ms_job job = {
		.job_id = job_id, .uid = uid, .state = MS_JOB_STUCK, .instance = MS_NO_INSTANCE
	};
	struct ms_error ignored;

	record_stamp(&job);
	snprintf(job.reason, sizeof(job.reason), "%s", err->text);
	record_publish(&job, &ignored);
}

/*
 * From here on the record does not say that the job is in LWK mode: should this process die, the
 * next one sees that a switch was broken off.
 */
static void publish_switching(const struct switching *switching)
{
	struct ms_job job = { .job_id = switching->job_id,
			      .uid = switching->uid,
			      .state = MS_JOB_SWITCHING,
			      .instance = MS_NO_INSTANCE };
	struct ms_error ignored;

	record_stamp(&job);
	record_publish(&job, &ignored);
}

int undo_switching(struct switching *switching, struct ms_error *err)
{
	if (steps_undo(all_steps, switching, err) < 0)
		return -1;
	if (switching->journal->version > JOURNAL_VERSION)
		return ms_fail(
			err,
			"%s/jobs/%u.journal: expected a journal of version %d, found version %ju, so "
			"something of this job may still be lent; install the release that wrote it, "
			"or run 'lwkctl reset'",
			state_dir, switching->job_id, JOURNAL_VERSION,
			(uintmax_t)switching->journal->version);
	if (switching->journal->damaged_line)
		return ms_fail(
			err,
			"%s/jobs/%u.journal: line %u is damaged, so something of this job may "
			"still be lent; the administrator's remedy is 'lwkctl reset'",
			state_dir, switching->job_id, switching->journal->damaged_line);
	if (journal_remove(switching->job_id, err) < 0)
		return -1;
	rehome_start();
	return 0;
}

/* Opens the driver that the journal names. Without its module nothing can be lent. */
static int open_driver(struct switching *switching, struct ms_error *err)
{
	switching->driver = driver_find(switching->journal->driver);
	/* A damaged first line does not tell the driver; most sites have one. */
	if (!switching->driver && switching->journal->damaged_line == 1)
		switching->driver = driver_number(0);
	if (!switching->driver)
		return ms_fail(err,
			       "expected a driver of this release in the journal, found \"%s\"; "
			       "install the release that wrote the journal",
			       switching->journal->driver);
	switching->dev = driver_open_any(switching->driver, err);
	return switching->dev >= 0 || switching->dev == -ENOENT ? 0 : -1;
}

static bool has_instance(uint32_t job_id)
{
	const struct driver *driver;
	struct ms_error ignored;
	bool has = false;

	for (size_t i = 0; !has && (driver = driver_number(i)); i++) {
		int dev = driver_open_any(driver, &ignored);

		has = dev >= 0 && driver_instance_of_job(driver, dev, job_id) != MS_NO_INSTANCE;
		if (dev >= 0)
			driver->close(dev);
	}
	return has;
}

/*
 * True when the process that created the journal was killed before the first line was whole, so no
 * step has begun. A journal of a job with an LWK was whole, and somebody has cut it.
 */
static bool is_unbegun(struct journal *journal)
{
	if (*journal->driver || journal->damaged_line || json_object_array_length(journal->entries))
		return false;
	journal->damaged_line = has_instance(journal->job_id);
	return !journal->damaged_line;
}

static int undo_journal(struct switching *switching, struct ms_error *err)
{
	int ret;

	if (is_unbegun(switching->journal))
		return journal_remove(switching->job_id, err);
	ret = open_driver(switching, err) < 0 || undo_switching(switching, err) < 0 ? -1 : 0;
	if (switching->dev >= 0)
		switching->driver->close(switching->dev);
	return ret;
}

int undo_job(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
	     struct ms_error *err)
{
	struct switching switching = {
		.job_id = job_id, .dev = -1, .times = times, .say = say, .say_context = context
	};
	enum found found = journal_open(job_id, &switching.journal, err);
	int ret;

	if (found == FOUND_NONE)
		return 0;
	if (found == FOUND_ERROR) {
		publish_stuck(job_id, 0, err);
		return -1;
	}
	switching.uid = switching.journal->uid;
	publish_switching(&switching);
	ret = undo_journal(&switching, err);
	if (ret < 0)
		publish_stuck(job_id, switching.uid, err);
	journal_close(switching.journal);
	return ret;
}

int undo_and_forget(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		    struct ms_error *err)
{
	if (undo_job(job_id, times, say, context, err) < 0 || record_remove(job_id, err) < 0)
		return -1;
	/* Interrupts can go back to this job's CPUs, and its own need not be kept away. */
	return quiet_make_pass(NULL, err);
}

int switch_off_locked(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		      struct ms_error *err)
{
	struct json_object *report = report_take(job_id);
	int ret = undo_and_forget(job_id, times, say, context, err);

	report_write(report, times, ret == 0);
	return ret;
}
