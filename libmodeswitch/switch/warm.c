// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/warm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/state.h"
#include "switch/fault.h"
#include "switch/undo.h"
#include "switch/warm_parts.h"

/* While no switch goes on, an instance into which nothing was loaded holds a warm partition. */
static bool holds_partition(uint32_t job_id)
{
	struct instance_info info = { 0 };
	const struct driver *driver;
	struct ms_error ignored;

	for (size_t i = 0; !info.idle && (driver = driver_number(i)); i++) {
		int dev = driver->keeps_warm ? driver_open_any(driver, &ignored) : -1;
		int instance = dev < 0 ? -1 : driver_instance_of_job(driver, dev, job_id);

		if (instance >= 0 && driver->info(dev, instance, &info) < 0)
			info.idle = false;
		if (dev >= 0)
			driver->close(dev);
	}
	return info.idle;
}

/* Without its record a warm partition is one whose time is over. */
static bool is_warm(const struct ms_job *job)
{
	return job->state == MS_JOB_WARM ||
	       (job->state == MS_JOB_UNREADABLE && holds_partition(job->job_id));
}

enum found warm_find_job(struct ms_job *job, struct ms_error *err)
{
	struct ms_job *jobs;
	size_t n;
	enum found found = FOUND_NONE;

	if (ms_job_list(&jobs, &n, err) < 0)
		return FOUND_ERROR;
	for (size_t i = 0; i < n && found == FOUND_NONE; i++) {
		if (!is_warm(&jobs[i]))
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

	if (warm_find_job(&job, &ignored) != FOUND)
		return -1;
	left = seconds_left(&job);
	ms_job_release(&job);
	return left > 0 ? left : 0;
}

int warm_holdings(const struct driver *driver, int dev, int instance, struct ms_lent **lent,
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
	enum found found = warm_find_job(&job, err);

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
	if (warm_holdings(driver, dev, warm->instance, &warm->lent, &warm->n, err) < 0)
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

int warm_run_parts(const struct warm_part *part, struct warm_run *run, struct ms_error *err)
{
	for (; part->name; part++) {
		if (fault_at(part->direction, part->name, "before", err) < 0 ||
		    part->run(run, err) < 0 ||
		    fault_at(part->direction, part->name, "after", err) < 0)
			return -1;
	}
	return 0;
}

int warm_end(bool over, ms_say say, void *context, struct ms_error *err)
{
	struct ms_job job;
	enum found found;

	while ((found = warm_find_job(&job, err)) == FOUND) {
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
