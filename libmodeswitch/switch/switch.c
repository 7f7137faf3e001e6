// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Switches a job's share of the node to LWK mode when the job begins, and back when it ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/signals.h"
#include "config/image.h"
#include "machine/vulnerabilities.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/plan.h"
#include "plan/make.h"
#include "store/record.h"
#include "store/state.h"
#include "store/times.h"
#include "switch/engine.h"
#include "switch/report.h"
#include "switch/steps/table.h"
#include "switch/undo.h"
#include "switch/warm.h"

/* The result of a switch to LWK mode, or of one part of it. */
enum switch_result {
	SWITCH_OK,
	SWITCH_REFUSED, /* the switch failed, and nothing is left; the user gets the reason */
	SWITCH_STUCK,	/* the switch failed and could not be undone; the node is not sound */
	SWITCH_OVER,	/* the job ended before its switch began */
};

static void job_init(struct ms_job *job, uint32_t job_id, uid_t uid, enum ms_job_state state)
{
	memset(job, 0, sizeof(*job));
	job->job_id = job_id;
	job->uid = uid;
	job->state = state;
	job->instance = MS_NO_INSTANCE;
	record_stamp(job);
}

int ms_switch_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err)
{
	struct ms_job job;

	job_init(&job, job_id, uid, MS_JOB_REFUSED);
	snprintf(job.reason, sizeof(job.reason), "%s", reason);
	return record_publish(&job, err);
}

static int compare_starts(const void *a, const void *b)
{
	const struct ms_lent *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Tells the record how much memory was taken. Neighbouring ranges are one run. */
static void measure_memory(struct switching *switching, struct ms_job *job)
{
	struct ms_lent *memory = switching->memory;
	uint64_t run = 0;

	qsort(memory, switching->n_memory, sizeof(*memory), compare_starts);
	for (size_t i = 0; i < switching->n_memory; i++) {
		bool joins = i && memory[i - 1].start + memory[i - 1].bytes == memory[i].start;

		run = joins ? run + memory[i].bytes : memory[i].bytes;
		job->runs += !joins;
		job->memory += memory[i].bytes;
		if (run > job->largest_run)
			job->largest_run = run;
		hwloc_bitmap_set(job->nodes, memory[i].node);
	}
}

static int publish_active(struct switching *switching, struct ms_error *err)
{
	const struct ms_plan *plan = switching->plan;
	struct ms_job job;
	int ret;

	job_init(&job, switching->job_id, switching->uid, MS_JOB_ACTIVE);
	snprintf(job.image, sizeof(job.image), "%s", plan->image.name);
	snprintf(job.driver, sizeof(job.driver), "%s", plan->image.driver);
	job.instance = switching->instance;
	snprintf(job.device, sizeof(job.device), "%s%d", switching->driver->device_prefix,
		 job.instance);
	snprintf(job.launcher, sizeof(job.launcher), "%s", plan->image.launcher);
	job.lwk_cpus = hwloc_bitmap_dup(plan->lwk_cpus);
	job.linux_cpus = hwloc_bitmap_dup(plan->linux_cpus);
	job.nodes = hwloc_bitmap_alloc();
	job.irqs_before = switching->irqs_before;
	job.proxies = plan->proxies;
	job.proxies.cpus = hwloc_bitmap_dup(plan->proxies.cpus);
	job.proxies.nodes = hwloc_bitmap_dup(plan->proxies.nodes);
	measure_memory(switching, &job);
	job.vacated = switching->vacated;
	times_lap(switching->times, "record");
	job.times = *switching->times;
	job.switch_on_ms = job.times.total_us / 1000;
	job.keep_warm = switching->config->keep_warm;
	ret = record_publish(&job, err);
	ms_job_release(&job);
	return ret;
}

static int publish_switching(const struct ms_request *request, struct ms_error *err)
{
	struct ms_job job;

	job_init(&job, request->job_id, request->uid, MS_JOB_SWITCHING);
	snprintf(job.image, sizeof(job.image), "%s", request->image);
	return record_publish(&job, err);
}

/* A program of an LWK must not be able to do what Linux keeps programs from doing. */
static int check_cpus(const struct ms_config *config, struct ms_error *err)
{
	char names[512];

	if (config->accept_vulnerabilities || vulnerabilities_open(names, sizeof(names)) <= 0)
		return 0;
	return ms_fail(err,
		       "this node's CPUs have vulnerabilities about which Linux does something and "
		       "LWKs do not: %s; the administrator's remedies are another release of "
		       "slurm-lwk, and Vulnerabilities=accept in %s",
		       names, MS_CONFIG_PATH);
}

/* Finds the LWK image's driver, opens it if its module is loaded, and reads the image. */
static int prepare_image(struct switching *switching, const struct ms_request *request,
			 struct ms_error *err)
{
	const struct ms_image *image = ms_config_image(switching->config, request->image, err);

	if (!image)
		return -1;
	switching->driver = driver_find(image->driver);
	if (switching->driver->use_library &&
	    switching->driver->use_library(image->library, err) < 0)
		return -1;
	/* A driver with a library of its own has a module of its own, too. */
	if (!switching->driver->use_library)
		module_renew(switching->driver->module);
	switching->dev = switching->driver->open(err);
	if (switching->dev < 0 && switching->dev != -ENOENT)
		return -1;
	if (image_read(image, &switching->image, &switching->image_size, err) < 0)
		return -1;
	times_lap(switching->times, "image");
	return 0;
}

/* Makes switching->plan, which may take what the instance 'warm' holds, if there is one. */
static int make_plan(struct switching *switching, const struct ms_request *request, int warm,
		     struct ms_error *err)
{
	ms_plan_free(switching->plan);
	switching->plan = NULL;
	if (plan_for_node(switching->config, request, switching->driver, switching->dev, warm, true,
			  &switching->plan, err) < 0)
		return -1;
	times_lap(switching->times, "plan");
	return 0;
}

/*
 * Plans with the warm partition, if there is one. *fits: the plan wants just that partition, and
 * *warm has it. Otherwise the partition is given back.
 */
static enum switch_result plan_with_warm(struct switching *switching,
					 const struct ms_request *request, struct warm *warm,
					 bool *fits, struct ms_error *err)
{
	enum found found = warm_find(switching->driver, switching->dev, warm, err);

	*fits = false;
	if (found != FOUND)
		return found == FOUND_NONE ? SWITCH_OK : SWITCH_REFUSED;
	if (make_plan(switching, request, warm->instance, err) == 0)
		*fits = warm_fits(warm, switching->plan);
	if (*fits)
		return SWITCH_OK;
	warm_release(warm);
	if (warm_end(false, NULL, NULL, err) < 0)
		return SWITCH_STUCK;
	times_lap(switching->times, "cool");
	return SWITCH_OK;
}

/* Takes over the warm partition, if there is one, and does the steps that are left. */
static int run_steps(struct switching *switching, const struct warm *warm, struct ms_error *err)
{
	if (!warm)
		return steps_run(all_steps, switching, err);
	if (warm_adopt(switching, warm, err) < 0)
		return -1;
	times_lap(switching->times, "adopt");
	return steps_run(warm_steps, switching, err);
}

static enum switch_result undo_failed(struct switching *switching, struct ms_error *err)
{
	struct ms_error undo_error;

	if (undo_switching(switching, &undo_error) == 0)
		return SWITCH_REFUSED;
	ms_fail(err, "%s; and it could not be undone: %s", err->text, undo_error.text);
	return SWITCH_STUCK;
}

/* The job goes on without a guard, too: its end, or its time limit, ends what a failed LWK has left. */
static void start_guard(const struct switching *switching)
{
	const struct watching *watching = switching->driver->watching;
	char job[16];
	const char *const guard[] = { LWKCTL_PATH, "guard", job, NULL };
	int error;

	if (!watching || !watching->guard)
		return;
	snprintf(job, sizeof(job), "%u", switching->job_id);
	error = child_detach(guard);
	if (error)
		syslog(LOG_DAEMON | LOG_WARNING, "slurm-lwk: %s guard %s cannot be started: %s",
		       LWKCTL_PATH, job, strerror(-error));
}

/* The sequence of a switch. The caller holds the lock and releases what 'switching' has. */
static enum switch_result switch_on(struct switching *switching, const struct ms_request *request,
				    struct ms_error *err)
{
	enum switch_result result;
	struct warm warm;
	bool fits;

	/* An earlier run of a requeued job may have left something. */
	if (undo_job(request->job_id, NULL, NULL, NULL, err) < 0)
		return SWITCH_STUCK;
	if (publish_switching(request, err) < 0)
		return SWITCH_REFUSED;
	times_lap(switching->times, "begin");
	if (check_cpus(switching->config, err) < 0 || prepare_image(switching, request, err) < 0)
		return SWITCH_REFUSED;
	result = plan_with_warm(switching, request, &warm, &fits, err);
	if (result != SWITCH_OK)
		return result;
	if (!fits && make_plan(switching, request, MS_NO_INSTANCE, err) < 0)
		return SWITCH_REFUSED;
	/* Nothing of this job's is taken before its journal is there. */
	if (journal_create(request->job_id, request->uid, switching->driver->name,
			   &switching->journal, err) < 0)
		result = SWITCH_REFUSED;
	else if (run_steps(switching, fits ? &warm : NULL, err) < 0 ||
		 publish_active(switching, err) < 0)
		result = undo_failed(switching, err);
	else
		start_guard(switching);
	if (fits)
		warm_release(&warm);
	return result;
}

static void release(struct switching *switching)
{
	if (switching->dev >= 0)
		switching->driver->close(switching->dev);
	journal_close(switching->journal);
	ms_plan_free(switching->plan);
	free(switching->image);
	free(switching->memory);
}

/* Only with the lock the answer holds, because the job's end takes it, too. */
static bool is_over(const struct ms_request *request)
{
	return request->announced && ms_switch_announced(request->job_id) != request->announced;
}

int ms_switch_on(const struct ms_config *config, const struct ms_request *request,
		 struct ms_error *err)
{
	enum switch_result result = SWITCH_REFUSED;
	struct ms_error reason;
	struct ms_times times;
	int lock, ret = 0;

	times_begin(&times);
	signals_hold();
	lock = state_lock(config->switch_timeout_ms, &reason);
	times_lap(&times, "lock");
	if (is_over(request)) {
		result = SWITCH_OVER;
	} else if (lock >= 0) {
		struct switching switching = { .job_id = request->job_id,
					       .uid = request->uid,
					       .dev = -1,
					       .times = &times,
					       .config = config,
					       .deadline = clock_ms() + config->switch_timeout_ms,
					       .instance = MS_NO_INSTANCE };

		result = switch_on(&switching, request, &reason);
		release(&switching);
		/* A refused job may use all of its share on Linux. */
		if (result == SWITCH_REFUSED && warm_end(false, NULL, NULL, err) < 0) {
			reason = *err;
			result = SWITCH_STUCK;
		}
	}
	if (result == SWITCH_REFUSED) {
		ret = ms_switch_refuse(request->job_id, request->uid, reason.text, err);
	} else if (result == SWITCH_STUCK) {
		*err = reason;
		publish_stuck(request->job_id, request->uid, err);
		ret = -1;
	} else if (result == SWITCH_OVER) {
		ret = ms_fail(err, "the job ended before its switch began");
	}
	if (lock >= 0)
		close(lock);
	signals_release();
	return ret;
}

/* Each job of the node ends with this call. Most of them have never had an LWK. */
static int switch_off(uint32_t job_id, bool may_keep, struct ms_times *times, struct ms_error *err)
{
	struct json_object *report;
	struct ms_times unwanted;
	int lock, ret;

	times = times ? times : &unwanted;
	times_begin(times);
	if (!state_knows_job(job_id))
		return 0;
	lock = state_lock(UNDO_LOCK_MS, err);
	if (lock < 0)
		return -1;
	times_lap(times, "lock");
	report = report_take(job_id);
	ret = may_keep ? warm_keep(job_id, times, err) : -1;
	if (ret < 0)
		ret = undo_and_forget(job_id, times, NULL, NULL, err);
	report_write(report, times, ret == 0);
	times_lap(times, "record");
	close(lock);
	return ret;
}

int ms_switch_off(uint32_t job_id, struct ms_times *times, struct ms_error *err)
{
	return switch_off(job_id, false, times, err);
}

int ms_job_ended(uint32_t job_id, struct ms_times *times, struct ms_error *err)
{
	return switch_off(job_id, true, times, err);
}
