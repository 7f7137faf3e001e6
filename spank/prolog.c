// SPDX-License-Identifier: GPL-2.0-or-later
#include "prolog.h"

#include <stdio.h>

#include "cgroups.h"
#include "modeswitch.h"
#include "options.h"
#include "request.h"
#include "verdict.h"

static int refuse(uint32_t job_id, uid_t uid, const char *reason)
{
	struct ms_error err;

	slurm_error("lwk: job %u: refused: %s", job_id, reason);
	if (ms_switch_refuse(job_id, uid, reason, &err) == 0) {
		verdict_refuse(job_id, reason);
		return 0;
	}
	/* With no record the job's programs would run on Linux, and nobody would know. */
	slurm_error("lwk: job %u: cannot record that: %s", job_id, err.text);
	return -1;
}

static void report_job(uint32_t job_id)
{
	struct ms_job job;
	struct ms_error err;
	char cpus[256];

	if (ms_job_get(job_id, &job, &err) != 1)
		return;
	if (job.state == MS_JOB_ACTIVE) {
		hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job.lwk_cpus);
		slurm_info("lwk: job %u: image %s on CPUs %s with %ju MB as %s, in %u ms", job_id,
			   job.image, cpus, (uintmax_t)(job.memory >> 20), job.device,
			   job.switch_on_ms);
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
	if (ret < 0)
		slurm_error("lwk: job %u: switching to LWK mode left this node unsound: %s",
			    request->job_id, err.text);
	else
		report_job(request->job_id);
	ms_config_free(config);
	return ret;
}

int prolog_switch_on(spank_t sp)
{
	struct ms_request request;
	struct ms_error err;
	const char *image;
	uint32_t job_id;
	uid_t uid;
	int ret;

	if (!options_lwk(sp, &image))
		return 0;
	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS) {
		slurm_error("lwk: Slurm does not tell the job's id and user");
		return -1;
	}
	if (request_build(job_id, uid, image, &request, &err) < 0)
		return refuse(job_id, uid, err.text);
	ret = switch_on(&request);
	request_release(&request);
	return ret;
}

int prolog_switch_off(spank_t sp)
{
	struct ms_error err;
	uint32_t job_id;

	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS) {
		slurm_error("lwk: Slurm does not tell the job's id");
		return -1;
	}
	cgroups_remove_empty(job_id);
	if (ms_switch_off(job_id, &err) == 0)
		return 0;
	slurm_error("lwk: job %u: cannot switch this node back: %s", job_id, err.text);
	return -1;
}
