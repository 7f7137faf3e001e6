// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The record of a Linux-only job with --quiet-irqs, from its begin on or with the reason why the
 * job is refused. switch.c ends it like any other job.
 */
#include <stdio.h>
#include <unistd.h>

#include "interrupts/counts.h"
#include "interrupts/quiet/quiet.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"
#include "modeswitch/job.h"
#include "store/record.h"
#include "store/state.h"
#include "switch/undo.h"

static int publish(uint32_t job_id, uid_t uid, hwloc_const_bitmap_t cpus, const char *reason,
		   struct ms_error *err)
{
	struct ms_job job = {
		.job_id = job_id, .uid = uid, .state = MS_JOB_QUIET, .instance = MS_NO_INSTANCE
	};
	int ret;

	record_stamp(&job);
	snprintf(job.reason, sizeof(job.reason), "%s", reason);
	if (cpus) {
		job.linux_cpus = hwloc_bitmap_dup(cpus);
		interrupts_measure(cpus, &job.irqs_before);
	}
	ret = record_publish(&job, err);
	ms_job_release(&job);
	return ret;
}

int ms_quiet_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err)
{
	return publish(job_id, uid, NULL, reason, err);
}

int ms_quiet_begin(const struct ms_config *config, uint32_t job_id, uid_t uid,
		   hwloc_const_bitmap_t cpus, struct ms_error *err)
{
	int lock = state_lock(config->switch_timeout_ms, err), ret;
	struct ms_error ignored;

	if (lock < 0)
		return -1;
	/* An earlier run of a requeued job may have left something. */
	ret = switch_off_locked(job_id, NULL, NULL, NULL, err);
	if (ret == 0)
		ret = publish(job_id, uid, cpus, "", err);
	if (ret == 0 && quiet_start(config->os_cpus, err) < 0) {
		ret = -1;
		record_remove(job_id, &ignored);
		quiet_make_pass(NULL, &ignored);
	}
	close(lock);
	return ret;
}
