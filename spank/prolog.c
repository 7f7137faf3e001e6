// SPDX-License-Identifier: GPL-2.0-or-later
#include "prolog.h"

#include <signal.h>
#include <stdint.h>

#include "base/clock.h"
#include "cgroups.h"
#include "compat/slurm_compat.h"
#include "command/memory_binding.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"
#include "modeswitch/job.h"
#include "modeswitch/limits.h"
#include "modeswitch/plan.h"
#include "mpi_profile.h"
#include "options.h"
#include "request.h"
#include "verdict.h"

/* Gives back what is kept warm for LWK jobs: Slurm may have given its CPUs to this job. */
static int cool(uint32_t job_id)
{
	struct ms_error err, text;

	if (ms_cool(false, NULL, NULL, &err) == 0)
		return 0;
	ms_fail(&text, "what was kept warm cannot be given back to Linux: %s", err.text);
	slurm_error("lwk: %s", text.text);
	compat_prepare_prolog();
	verdict_drain(job_id, text.text);
	return -1;
}

/* True when the job ended while this process, whose slurmd may have died, prepared its switch. */
static bool is_over(uint32_t job_id)
{
	if (ms_switch_announced(job_id) >= 0)
		return false;
	slurm_info("lwk: job %u ended before its switch began", job_id);
	return true;
}

static int cannot_record(uint32_t job_id, const struct ms_error *err)
{
	slurm_error("lwk: job %u: cannot record that it is an LWK job: %s", job_id, err->text);
	verdict_drain(job_id, err->text);
	return -1;
}

static int refuse(uint32_t job_id, uid_t uid, const char *reason)
{
	struct ms_error err;

	if (is_over(job_id))
		return -1;
	slurm_error("lwk: job %u: refused: %s", job_id, reason);
	if (ms_switch_refuse(job_id, uid, reason, &err) == 0) {
		verdict_refuse(job_id, reason);
		return cool(job_id);
	}
	/* Without a record the job's programs would silently run on Linux. */
	return cannot_record(job_id, &err);
}

static void report_job(uint32_t job_id)
{
	struct ms_job job;
	struct ms_error err;
	char cpus[256], parts[512];

	if (ms_job_get(job_id, &job, &err) != 1)
		return;
	if (job.state == MS_JOB_ACTIVE) {
		hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job.lwk_cpus);
		ms_times_print(&job.times, parts, sizeof(parts));
		slurm_info("lwk: job %u: image %s on CPUs %s with %ju MB as %s, in %u ms (%s)",
			   job_id, job.image, cpus, (uintmax_t)(job.memory >> 20), job.device,
			   job.switch_on_ms, parts);
	} else if (job.state == MS_JOB_REFUSED) {
		slurm_error("lwk: job %u: refused: %s", job_id, job.reason);
		verdict_refuse(job_id, job.reason);
	}
	ms_job_release(&job);
}

static int switch_on(const struct ms_request *request)
{
	struct ms_config *config;
	struct ms_error err;
	int ret;

	if (ms_config_load(MS_CONFIG_PATH, &config, &err) < 0)
		return refuse(request->job_id, request->uid, err.text);
	ret = ms_switch_on(config, request, &err);
	if (ret == 0) {
		report_job(request->job_id);
	} else if (!is_over(request->job_id)) {
		slurm_error("lwk: job %u: switching to LWK mode left this node unsound: %s",
			    request->job_id, err.text);
		verdict_drain(request->job_id, err.text);
	}
	ms_config_free(config);
	return ret;
}

static int keep_quiet(uint32_t job_id, uid_t uid, hwloc_bitmap_t cpus, struct ms_error *err)
{
	struct ms_config *config;
	int ret;

	if (ms_config_load(MS_CONFIG_PATH, &config, err) < 0)
		return -1;
	ret = request_cpus(job_id, uid, cpus, err);
	if (ret == 0)
		ret = ms_quiet_begin(config, job_id, uid, cpus, err);
	ms_config_free(config);
	return ret;
}

/* Keeps interrupts away from the job. A job that cannot have that runs without, and is told. */
static void quiet_on(spank_t sp)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	struct ms_error err, ignored;
	uint32_t job_id;
	uid_t uid;

	compat_prepare_prolog();
	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS || !cpus) {
		slurm_error("lwk: --quiet-irqs: expected the job's id and user from Slurm, found "
			    "none; have the administrator run 'lwkctl check'");
	} else if (keep_quiet(job_id, uid, cpus, &err) < 0) {
		slurm_error("lwk: job %u: --quiet-irqs: %s", job_id, err.text);
		ms_quiet_refuse(job_id, uid, err.text, &ignored);
	}
	hwloc_bitmap_free(cpus);
}

/*
 * Slurm runs prolog and epilog in a process of their own. On a busy node munged closes the connection
 * of a process that is slow, and slurmctld may, too. A write to it must then fail, and not end the
 * process: Slurm would drain the node.
 */
static void survive_broken_connections(void)
{
	signal(SIGPIPE, SIG_IGN);
}

int prolog_switch_on(spank_t sp)
{
	struct ms_request request;
	int64_t start = clock_ms(), announced;
	struct ms_error err;
	struct asked asked;
	uint32_t job_id;
	uid_t uid;
	int ret;

	survive_broken_connections();
	if (!options_lwk(sp, &asked.image)) {
		/* Only the reason of a drained node names such a job. */
		if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS)
			job_id = 0;
		ret = cool(job_id);
		if (options_quiet(sp))
			quiet_on(sp);
		return ret;
	}
	compat_prepare_prolog();
	asked.memory = options_memory(sp);
	asked.numa = options_numa(sp);
	asked.proxy_memory = options_proxy_memory(sp);
	if (!asked.numa)
		asked.numa = memory_binding();
	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS) {
		slurm_error("lwk: expected the job's id and user from Slurm, found none; have the "
			    "administrator run 'lwkctl check'");
		return -1;
	}
	if (ms_switch_announce(job_id, &announced, &err) < 0)
		return cannot_record(job_id, &err);
	if (request_build(job_id, uid, &asked, &request, &err) < 0)
		return refuse(job_id, uid, err.text);
	request.announced = announced;
	slurm_info("lwk: job %u: slurmctld told what it was allocated, in %jd ms", job_id,
		   (intmax_t)(clock_ms() - start));
	ret = switch_on(&request);
	request_release(&request);
	return ret;
}

static void log_times(uint32_t job_id, const struct ms_times *times)
{
	char parts[512];

	ms_times_print(times, parts, sizeof(parts));
	if (times->n)
		slurm_info("lwk: job %u: given back what it had, in %ju ms (%s)", job_id,
			   (uintmax_t)(times->total_us / 1000), parts);
}

int prolog_switch_off(spank_t sp)
{
	struct ms_times times;
	struct ms_error err;
	uint32_t job_id;

	survive_broken_connections();
	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS) {
		slurm_error("lwk: expected the job's id from Slurm, found none; run 'lwkctl "
			    "check'");
		return -1;
	}
	cgroups_remove_empty(job_id);
	mpi_profile_job_ended(job_id);
	if (ms_job_ended(job_id, &times, &err) == 0) {
		log_times(job_id, &times);
		ms_limits_share();
		return 0;
	}
	slurm_error("lwk: job %u: cannot switch this node back: %s", job_id, err.text);
	compat_prepare_prolog();
	verdict_drain(job_id, err.text);
	return -1;
}
