// SPDX-License-Identifier: GPL-2.0-or-later
#include "lost.h"

#include <slurm/spank.h>
#include <stdio.h>

#include "base/child.h"
#include "base/clock.h"
#include "compat/slurm_compat.h"

#define SCONTROL_MS 60000
#define FAILED_WITH_1 (1 << 8)

void lost_prolog(uint32_t job_id)
{
	char id[16], answer[256];
	const char *const requeue[] = { SCONTROL_PATH, "requeue", id, NULL };

	snprintf(id, sizeof(id), "%u", job_id);
	slurm_info("lwk: job %u: its prolog ended while slurmd was away: requeueing it", job_id);
	if (child_run(requeue, clock_ms() + SCONTROL_MS, answer, sizeof(answer)) == 0)
		return;
	slurm_info("lwk: job %u: cannot be requeued (%s): ending it", job_id, answer);
	compat_notify_job(job_id,
			  "lwk: slurmd was away when the job's prolog ended; start it again");
	if (compat_complete_job(job_id, FAILED_WITH_1) != 0)
		slurm_error("lwk: job %u: cannot be ended; run 'scancel %u'", job_id, job_id);
}
