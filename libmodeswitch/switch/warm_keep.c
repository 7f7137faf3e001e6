// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeping the partition of an LWK job that is over.
 */
#include <stdlib.h>

#include "base/child.h"
#include "store/journal.h"
#include "store/record.h"
#include "store/times.h"
#include "switch/steps/table.h"
#include "switch/warm.h"
#include "switch/warm_parts.h"

/*
 * Makes an instance that holds the partition. Its CPUs are parked; they go through Linux once for
 * that.
 */
static int hold(struct switching *switching, const struct ms_lent *lent, size_t n,
		struct ms_error *err)
{
	struct ms_plan plan = { .cpus = calloc(n + 1, sizeof(*plan.cpus)) };
	int ret;

	switching->memory = calloc(n + 1, sizeof(*switching->memory));
	if (!plan.cpus || !switching->memory) {
		free(plan.cpus);
		return ms_fail(err, "out of memory");
	}
	for (size_t i = 0; i < n; i++) {
		/* The doorbells go to CPU 0, which always stays with Linux, and nobody rings. */
		if (lent[i].is_cpu)
			plan.cpus[plan.n_cpus++] = (struct ms_plan_cpu){ .cpu = lent[i].cpu };
		else
			switching->memory[switching->n_memory++] = lent[i];
	}
	switching->plan = &plan;
	ret = step_instance.run(switching, err) < 0 || step_assign.run(switching, err) < 0 ? -1 : 0;
	switching->plan = NULL;
	free(plan.cpus);
	return ret;
}

/* True when the job's partition may be kept; *job then has the job's record. */
static bool is_wanted(uint32_t job_id, struct ms_job *job)
{
	struct ms_error ignored;
	struct ms_job other = { 0 };
	const struct driver *driver;
	struct journal *journal;
	bool wanted;

	if (ms_job_get(job_id, job, &ignored) < 1)
		return false;
	driver = driver_find(job->driver);
	wanted = job->state == MS_JOB_ACTIVE && job->keep_warm && driver && driver->keeps_warm;
	if (wanted && warm_find_job(&other, &ignored) != FOUND_NONE) {
		ms_job_release(&other);
		wanted = false;
	}
	if (wanted && journal_open(job_id, &journal, &ignored) == FOUND) {
		wanted = !journal->damaged_line;
		journal_close(journal);
	} else {
		wanted = false;
	}
	if (!wanted)
		ms_job_release(job);
	return wanted;
}

static int keep_record(struct warm_run *run, struct ms_error *err)
{
	struct ms_job *job = run->job;

	job->state = MS_JOB_WARM;
	record_stamp(job);
	job->instance = MS_NO_INSTANCE;
	*job->device = '\0';
	return record_publish(job, err);
}

static int keep_end_lwk(struct warm_run *run, struct ms_error *err)
{
	struct switching *switching = run->switching;
	int instance = driver_instance_of_job(switching->driver, switching->dev, switching->job_id);
	struct instance_info info = { 0 };

	if (instance < 0)
		return ms_fail(err, "job %u has no LWK instance", switching->job_id);
	/* The undo of a failed LWK's journal keeps its dump. */
	if (switching->driver->info(switching->dev, instance, &info) < 0 || info.failed)
		return ms_fail(err, "job %u's LWK has failed", switching->job_id);
	/* A job that was short has the next LWK clear the memory, whoever's it is. */
	run->job->memory_is_own = info.memory_clear;
	if (warm_holdings(switching->driver, switching->dev, instance, &run->lent, &run->n, err) <
	    0)
		return -1;
	return step_instance.undo(switching, NULL, err);
}

/* There are no proxies and no programs now. */
static int keep_no_limits(struct warm_run *run, struct ms_error *err)
{
	return step_limits.undo(run->switching, NULL, err);
}

static int keep_no_view(struct warm_run *run, struct ms_error *err)
{
	int ret = step_sysview.undo(run->switching, NULL, err);

	times_lap(run->switching->times, step_instance.name);
	return ret;
}

static int keep_park(struct warm_run *run, struct ms_error *err)
{
	int ret = hold(run->switching, run->lent, run->n, err);

	times_lap(run->switching->times, "park");
	return ret;
}

static int keep_time(struct warm_run *run, struct ms_error *err)
{
	/* KeepWarm= counts from here: parking took a while. */
	record_stamp(run->job);
	return record_publish(run->job, err);
}

static int keep_watcher(struct warm_run *run, struct ms_error *err)
{
	static const char *const cool[] = { LWKCTL_PATH, "cool", "--wait", NULL };

	return child_detach(cool) < 0 ? ms_fail(err, "%s cannot be started", LWKCTL_PATH) : 0;
}

const struct warm_part keep_parts[] = {
	{ "keep", "record", keep_record },    { "keep", "lwk", keep_end_lwk },
	{ "keep", "limits", keep_no_limits }, { "keep", "sysview", keep_no_view },
	{ "keep", "park", keep_park },	      { "keep", "time", keep_time },
	{ "keep", "watcher", keep_watcher },  { 0 },
};

static int keep(struct ms_job *job, struct ms_times *times, struct ms_error *err)
{
	struct switching switching = {
		.job_id = job->job_id, .dev = -1, .times = times, .driver = driver_find(job->driver)
	};
	struct warm_run run = { .switching = &switching, .job = job };
	int ret;

	if (!switching.driver)
		return -1;
	switching.dev = switching.driver->open(err);
	if (switching.dev < 0)
		return -1;
	ret = warm_run_parts(keep_parts, &run, err);
	switching.driver->close(switching.dev);
	free(switching.memory);
	free(run.lent);
	return ret;
}

int warm_keep(uint32_t job_id, struct ms_times *times, struct ms_error *err)
{
	struct ms_job job;
	int ret;

	if (!is_wanted(job_id, &job))
		return -1;
	ret = keep(&job, times, err);
	ms_job_release(&job);
	return ret;
}
