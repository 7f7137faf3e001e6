// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A switch as a whole: plan, steps, record; and back.
 */
#include "switch/switch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "config/image.h"
#include "interrupts/quiet/quiet.h"
#include "machine/topology.h"
#include "migrate/rehome.h"
#include "modeswitch/config.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"
#include "plan/plan.h"
#include "plan/supply.h"
#include "store/record.h"
#include "store/state.h"
#include "store/times.h"
#include "switch/report.h"
#include "switch/steps/step.h"
#include "switch/warm.h"

/* Is anything lent, or might it be? */
static bool anything_lent(void)
{
	struct ms_error ignored;
	uint32_t *ids;
	ssize_t n = state_jobs(".journal", &ids, &ignored);

	free(ids);
	return n != 0;
}

int ms_topology_load(const char *path, hwloc_topology_t *out, struct ms_error *err)
{
	if (path)
		return topology_load_xml(path, out, err);
	return topology_load_node(anything_lent(), false, out, err);
}

static int plan_for_node(const struct ms_config *config, const struct ms_request *request,
			 const struct driver *driver, int dev, int warm, bool keep,
			 struct ms_plan **out, struct ms_error *err)
{
	bool lent = anything_lent();
	hwloc_topology_t topology;
	struct supply *supply;
	int ret;

	if (topology_load_node(lent, keep, &topology, err) < 0)
		return -1;
	ret = supply_of_node(topology, driver, dev, warm, &supply, err);
	if (ret == 0) {
		ret = plan_decide(config, request, topology, supply, out, err);
		supply_free(supply);
	}
	hwloc_topology_destroy(topology);
	return ret;
}

static int plan_for_topology(const struct ms_config *config, const struct ms_request *request,
			     const char *path, struct ms_plan **out, struct ms_error *err)
{
	hwloc_topology_t topology;
	struct supply *supply;
	int ret;

	if (topology_load_xml(path, &topology, err) < 0)
		return -1;
	ret = supply_of_topology(topology, &supply, err);
	if (ret == 0) {
		ret = plan_decide(config, request, topology, supply, out, err);
		supply_free(supply);
	}
	hwloc_topology_destroy(topology);
	return ret;
}

int ms_plan_make(const struct ms_config *config, const struct ms_request *request,
		 const char *topology, struct ms_plan **out, struct ms_error *err)
{
	const struct ms_image *image = ms_config_image(config, request->image, err);
	const struct driver *driver;
	struct ms_error ignored;
	int dev, ret;

	if (!image)
		return -1;
	if (topology)
		return plan_for_topology(config, request, topology, out, err);
	driver = driver_find(image->driver);
	dev = driver->open(&ignored);
	ret = plan_for_node(config, request, driver, dev, MS_NO_INSTANCE, false, out, err);
	if (dev >= 0)
		driver->close(dev);
	return ret;
}

static void job_init(struct ms_job *job, uint32_t job_id, uid_t uid, enum ms_job_state state)
{
	memset(job, 0, sizeof(*job));
	job->job_id = job_id;
	job->uid = uid;
	job->state = state;
	job->instance = MS_NO_INSTANCE;
	job->since = time(NULL);
}

int ms_switch_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err)
{
	struct ms_job job;

	job_init(&job, job_id, uid, MS_JOB_REFUSED);
	snprintf(job.reason, sizeof(job.reason), "%s", reason);
	return record_publish(&job, err);
}

/* The record says so when it can; the caller hears it in any case. */
static int stuck(uint32_t job_id, uid_t uid, struct ms_error *err)
{
	struct ms_error ignored;
	struct ms_job job;

	job_init(&job, job_id, uid, MS_JOB_STUCK);
	snprintf(job.reason, sizeof(job.reason), "%s", err->text);
	record_publish(&job, &ignored);
	return -1;
}

/* Opens the driver for undoing. Without its module nothing can be lent. */
static int open_for_undo(struct switching *switching, struct ms_error *err)
{
	/* A damaged first line: most sites have one driver. */
	switching->driver = driver_find(switching->journal->driver);
	if (!switching->driver && switching->journal->damaged_line == 1)
		switching->driver = driver_number(0);
	if (!switching->driver)
		return ms_fail(err, "the journal names an unknown driver \"%s\"",
			       switching->journal->driver);
	switching->dev = switching->driver->open(err);
	return switching->dev >= 0 || switching->dev == -ENOENT ? 0 : -1;
}

/* Undoes and removes the journal. */
static int undo_all(struct switching *switching, struct ms_error *err)
{
	if (steps_undo(all_steps, switching, err) < 0)
		return -1;
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

int switch_undo(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		struct ms_error *err)
{
	struct switching switching = {
		.job_id = job_id, .dev = -1, .times = times, .say = say, .say_context = context
	};
	int ret = journal_open(job_id, &switching.journal, err);

	if (ret == 0)
		return 0;
	if (ret < 0)
		return stuck(job_id, 0, err);
	switching.uid = switching.journal->uid;
	ret = open_for_undo(&switching, err) < 0 || undo_all(&switching, err) < 0 ? -1 : 0;
	if (switching.dev >= 0)
		switching.driver->close(switching.dev);
	if (ret < 0)
		stuck(job_id, switching.uid, err);
	journal_close(switching.journal);
	return ret;
}

static int compare_starts(const void *a, const void *b)
{
	const struct ms_lent *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Neighbours that were taken one by one are one run. */
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
	snprintf(job.device, sizeof(job.device), "%s/%d", switching->driver->device_dir,
		 job.instance);
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

/* All but the taking of CPUs and memory. */
static const struct step *const warm_steps[] = {
	&step_module,  &step_limits, &step_sysview, &step_instance, &step_assign,
	&step_confine, &step_load,   &step_boot,    NULL,
};

static int run_steps(struct switching *switching, const struct warm *warm, struct ms_error *err)
{
	if (!warm)
		return steps_run(all_steps, switching, err);
	if (warm_adopt(switching, warm, err) < 0)
		return -1;
	times_lap(switching->times, "adopt");
	return steps_run(warm_steps, switching, err);
}

/*
 * Nothing has been touched before this. 0: in LWK mode; 1: it failed and all is as before;
 * -1: it failed and could not be undone.
 */
static int run_and_publish(struct switching *switching, const struct warm *warm,
			   struct ms_error *err)
{
	struct ms_error undo_error;

	if (journal_create(switching->job_id, switching->uid, switching->driver->name,
			   &switching->journal, err) < 0)
		return 1;
	if (run_steps(switching, warm, err) == 0 && publish_active(switching, err) == 0)
		return 0;
	if (undo_all(switching, &undo_error) == 0)
		return 1;
	return ms_fail(err, "%s; and it could not be undone: %s", err->text, undo_error.text);
}

static int plan_and_run_with(struct switching *switching, const struct ms_request *request,
			     const struct warm *warm, struct ms_error *err)
{
	int instance = warm ? warm->instance : MS_NO_INSTANCE, ret = 1;
	struct ms_plan *plan = NULL;

	if (plan_for_node(switching->config, request, switching->driver, switching->dev, instance,
			  true, &plan, err) < 0)
		return 1;
	times_lap(switching->times, "plan");
	switching->plan = plan;
	if (!warm || warm_fits(warm, plan))
		ret = run_and_publish(switching, warm, err);
	switching->plan = NULL;
	ms_plan_free(plan);
	return ret;
}

/* First with what is kept warm; when it does not fit, it is given back. */
static int plan_and_run(struct switching *switching, const struct ms_request *request,
			struct ms_error *err)
{
	struct warm warm;
	int found = warm_find(switching->driver, switching->dev, &warm, err), ret;

	if (found < 0)
		return 1;
	if (found) {
		ret = plan_and_run_with(switching, request, &warm, err);
		warm_release(&warm);
		if (ret <= 0 || switching->journal)
			return ret;
		if (warm_end(false, NULL, NULL, err) < 0)
			return -1;
		times_lap(switching->times, "cool");
	}
	return plan_and_run_with(switching, request, NULL, err);
}

static int read_and_run(struct switching *switching, const struct ms_request *request,
			struct ms_error *err)
{
	const struct ms_image *image = ms_config_image(switching->config, request->image, err);
	void *data = NULL;
	int ret;

	if (!image)
		return 1;
	switching->driver = driver_find(image->driver);
	switching->dev = switching->driver->open(err);
	if (switching->dev < 0 && switching->dev != -ENOENT)
		return 1;
	if (image_read(image, &data, &switching->image_size, err) < 0)
		return 1;
	times_lap(switching->times, "image");
	switching->image = data;
	ret = plan_and_run(switching, request, err);
	free(data);
	return ret;
}

/* With the lock held. As run_and_publish(). */
static int switch_on(const struct ms_config *config, const struct ms_request *request,
		     struct ms_times *times, struct ms_error *err)
{
	struct switching switching = { .job_id = request->job_id,
				       .uid = request->uid,
				       .dev = -1,
				       .times = times,
				       .config = config,
				       .deadline = clock_ms() + config->switch_timeout_ms,
				       .instance = MS_NO_INSTANCE };
	struct ms_job job;
	int ret;

	/* What an earlier run of a requeued job may have left. */
	if (switch_undo(request->job_id, NULL, NULL, NULL, err) < 0)
		return -1;
	job_init(&job, request->job_id, request->uid, MS_JOB_SWITCHING);
	snprintf(job.image, sizeof(job.image), "%s", request->image);
	if (record_publish(&job, err) < 0)
		return 1;
	times_lap(times, "begin");
	ret = read_and_run(&switching, request, err);
	if (switching.dev >= 0)
		switching.driver->close(switching.dev);
	journal_close(switching.journal);
	free(switching.memory);
	return ret;
}

int ms_switch_on(const struct ms_config *config, const struct ms_request *request,
		 struct ms_error *err)
{
	struct ms_error reason;
	struct ms_times times;
	int lock, ret = 1;

	times_begin(&times);
	signals_hold();
	lock = state_lock(config->switch_timeout_ms, &reason);
	times_lap(&times, "lock");
	if (lock >= 0)
		ret = switch_on(config, request, &times, &reason);
	/* A job that was refused may do on Linux what it can. */
	if (lock >= 0 && ret > 0 && warm_end(false, NULL, NULL, err) < 0) {
		ms_fail(&reason, "%s", err->text);
		ret = -1;
	}
	if (ret > 0) {
		ret = ms_switch_refuse(request->job_id, request->uid, reason.text, err);
	} else if (ret < 0) {
		*err = reason;
		stuck(request->job_id, request->uid, err);
	}
	if (lock >= 0)
		close(lock);
	signals_release();
	return ret;
}

static int undo_and_forget(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
			   struct ms_error *err)
{
	if (switch_undo(job_id, times, say, context, err) < 0 || record_remove(job_id, err) < 0)
		return -1;
	/* The job's own interrupts, or those of others for which its CPUs were missing. */
	return quiet_pass(NULL, err);
}

int switch_off_locked(uint32_t job_id, struct ms_times *times, ms_say say, void *context,
		      struct ms_error *err)
{
	struct json_object *report = report_take(job_id);
	int ret = undo_and_forget(job_id, times, say, context, err);

	report_write(report, times, ret == 0);
	return ret;
}

/* Every job of the node ends with one of these, most without ever having had an LWK. */
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
