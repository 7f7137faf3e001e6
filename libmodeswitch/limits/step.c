// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits the tasks of a step with either version of cgroups. */
#include "base/cgroup.h"
#include "driver/driver.h"
#include "limits/cgroup_v1.h"
#include "limits/cgroup_v2.h"
#include "modeswitch/job.h"
#include "modeswitch/limits.h"

int ms_limits_step(const struct ms_job *job, pid_t pid, bool is_step, struct ms_error *err)
{
	const struct driver *driver = driver_find(job->driver);

	if (!job->proxies.memory)
		return 0;
	if (cgroup2_is_used())
		return cgroup_v2_limit(job, pid, is_step, err);
	/* The tasks are the proxies where the driver cannot tell them apart. */
	return is_step && driver && !driver->confine
		       ? cgroup_v1_enter(job->job_id, &job->proxies, pid, err)
		       : 0;
}
