// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/warm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "migrate/home/away_list.h"
#include "store/record.h"
#include "store/state.h"
#include "store/times.h"
#include "switch/fault.h"
#include "switch/steps/table.h"
#include "switch/undo.h"

/* Finds the first warm job; ms_job_release() it. */
static enum found find_job(struct ms_job *job, struct ms_error *err)
{
	struct ms_job *jobs;
	size_t n;
	enum found found = FOUND_NONE;

	if (ms_job_list(&jobs, &n, err) < 0)
		return FOUND_ERROR;
	for (size_t i = 0; i < n && found == FOUND_NONE; i++) {
		if (jobs[i].state != MS_JOB_WARM)
			continue;
		*job = jobs[i];
		memset(&jobs[i], 0, sizeof(jobs[i]));
		found = FOUND;
	}
	ms_job_list_free(jobs, n);
	return found;
}

static int64_t seconds_left(const struct ms_job *job)
{
	return (int64_t)job->keep_warm - ms_job_age(job);
}

int64_t ms_warm_left(void)
{
	struct ms_error ignored;
	struct ms_job job;
	int64_t left;

	if (find_job(&job, &ignored) != FOUND)
		return -1;
	left = seconds_left(&job);
	ms_job_release(&job);
	return left > 0 ? left : 0;
}

/* Reads the ledger, and keeps in 'lent' what the instance has. */
static int read_holdings(const struct driver *driver, int dev, int instance, struct ms_lent **lent,
			 size_t *n, struct ms_error *err)
{
	size_t kept = 0;
	int error = driver->ledger(dev, lent, n);

	if (error)
		return ms_fail(err, "the ledger cannot be read: %s", strerror(-error));
	for (size_t i = 0; i < *n; i++) {
		if ((*lent)[i].instance == instance)
			(*lent)[kept++] = (*lent)[i];
	}
	*n = kept;
	return 0;
}

enum found warm_find(const struct driver *driver, int dev, struct warm *warm, struct ms_error *err)
{
	struct ms_job job;
	enum found found = find_job(&job, err);

	if (found != FOUND)
		return found;
	*warm = (struct warm){ .job_id = job.job_id,
			       .uid = job.uid,
			       .memory_is_own = job.memory_is_own,
			       .instance = MS_NO_INSTANCE };
	snprintf(warm->image, sizeof(warm->image), "%s", job.image);
	ms_job_release(&job);
	if (dev < 0)
		return FOUND;
	warm->instance = driver_instance_of_job(driver, dev, warm->job_id);
	if (read_holdings(driver, dev, warm->instance, &warm->lent, &warm->n, err) < 0)
		return FOUND_ERROR;
	return FOUND;
}

void warm_release(struct warm *warm)
{
	free(warm->lent);
	warm->lent = NULL;
}

static uint64_t bytes_of_node(const struct warm *warm, unsigned node)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < warm->n; i++) {
		if (!warm->lent[i].is_cpu && warm->lent[i].node == node)
			bytes += warm->lent[i].bytes;
	}
	return bytes;
}

bool warm_fits(const struct warm *warm, const struct ms_plan *plan)
{
	uint64_t bytes = 0;
	size_t cpus = 0;

	if (warm->instance == MS_NO_INSTANCE)
		return false;
	for (size_t i = 0; i < warm->n; i++) {
		cpus += warm->lent[i].is_cpu;
		if (warm->lent[i].is_cpu && !hwloc_bitmap_isset(plan->lwk_cpus, warm->lent[i].cpu))
			return false;
		bytes += warm->lent[i].bytes;
	}
	for (size_t i = 0; i < plan->n_memory; i++) {
		if (bytes_of_node(warm, plan->memory[i].node) != plan->memory[i].bytes)
			return false;
	}
	return cpus == plan->n_cpus && bytes == plan->bytes;
}

/* True when the step's entries stay true for the next job. */
static bool is_kept(const char *step)
{
	return strcmp(step, step_interrupts.name) == 0 || strcmp(step, step_cpus.name) == 0 ||
	       strcmp(step, step_memory.name) == 0;
}

/* Copies the entries that undo the taking of CPUs and memory from the old job's journal. */
static int copy_journal(struct switching *switching, uint32_t from, struct ms_error *err)
{
	struct journal *old;
	enum found found = journal_open(from, &old, err);
	int ret = 0;

	if (found == FOUND_ERROR)
		return -1;
	if (found == FOUND_NONE)
		return ms_fail(err,
			       "expected a journal of warm job %u, found none; run 'lwkctl reset'",
			       from);
	if (old->damaged_line)
		ret = ms_fail(err,
			      "expected a whole journal of warm job %u, found line %u damaged; "
			      "run 'lwkctl reset'",
			      from, old->damaged_line);
	for (size_t i = 0; ret == 0 && i < json_object_array_length(old->entries); i++) {
		struct json_object *entry = json_object_array_get_idx(old->entries, i);
		const char *step = journal_text(entry, "step");

		if (is_kept(step))
			ret = journal_record(switching->journal, step, json_object_get(entry), err);
	}
	journal_close(old);
	return ret;
}

/* Runs the parts one after the other, and the faults that root has ordered. */
static int run_parts(const struct warm_part *part, struct warm_run *run, struct ms_error *err)
{
	for (; part->name; part++) {
		if (fault_at(part->direction, part->name, "before", err) < 0 ||
		    part->run(run, err) < 0 ||
		    fault_at(part->direction, part->name, "after", err) < 0)
			return -1;
	}
	return 0;
}

/* Both journals name the same CPUs and memory for a while; undoing twice is harmless. */
static int adopt_journal(struct warm_run *run, struct ms_error *err)
{
	return copy_journal(run->switching, run->warm->job_id, err);
}

static int adopt_partition(struct warm_run *run, struct ms_error *err)
{
	struct switching *switching = run->switching;
	const struct warm *warm = run->warm;
	int error = switching->driver->destroy(switching->dev, warm->instance);

	if (error)
		return ms_fail(err, "LWK instance %d cannot be ended: %s", warm->instance,
			       strerror(-error));
	switching->memory = calloc(warm->n + 1, sizeof(*switching->memory));
	if (!switching->memory)
		return ms_fail(err, "out of memory");
	for (size_t i = 0; i < warm->n; i++) {
		if (!warm->lent[i].is_cpu)
			switching->memory[switching->n_memory++] = warm->lent[i];
	}
	return 0;
}

static int adopt_away_list(struct warm_run *run, struct ms_error *err)
{
	return away_list_hand_on(run->warm->job_id, run->switching->job_id, err);
}

static int adopt_forget_journal(struct warm_run *run, struct ms_error *err)
{
	return journal_remove(run->warm->job_id, err);
}

static int adopt_forget_record(struct warm_run *run, struct ms_error *err)
{
	return record_remove(run->warm->job_id, err);
}

const struct warm_part adopt_parts[] = {
	{ "adopt", "journal", adopt_journal },	    { "adopt", "partition", adopt_partition },
	{ "adopt", "away", adopt_away_list },	    { "adopt", "forget", adopt_forget_journal },
	{ "adopt", "record", adopt_forget_record }, { 0 },
};

int warm_adopt(struct switching *switching, const struct warm *warm, struct ms_error *err)
{
	struct warm_run run = { .switching = switching, .warm = warm };

	/* Another image may not have cleared the memory of what was there before. */
	switching->memory_is_own = warm->memory_is_own && warm->uid == switching->uid &&
				   strcmp(warm->image, switching->plan->image.name) == 0;
	return run_parts(adopt_parts, &run, err);
}

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
	if (wanted && find_job(&other, &ignored) != FOUND_NONE) {
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
	if (read_holdings(switching->driver, switching->dev, instance, &run->lent, &run->n, err) <
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
	ret = run_parts(keep_parts, &run, err);
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

int warm_end(bool over, ms_say say, void *context, struct ms_error *err)
{
	struct ms_job job;
	enum found found;

	while ((found = find_job(&job, err)) == FOUND) {
		bool keeps = over && seconds_left(&job) > 0;

		ms_job_release(&job);
		if (keeps)
			return 0;
		if (switch_off_locked(job.job_id, NULL, say, context, err) < 0)
			return -1;
	}
	return found == FOUND_NONE ? 0 : -1;
}

int ms_cool(bool over, ms_say say, void *context, struct ms_error *err)
{
	int lock, ret;

	/* Each job of the node begins with this call, so it is quick when nothing is warm. */
	if (ms_warm_left() < 0)
		return 0;
	lock = state_lock(UNDO_LOCK_MS, err);
	if (lock < 0)
		return -1;
	ret = warm_end(over, say, context, err);
	close(lock);
	return ret;
}
