// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dumps an LWK at the request of the administrator (lwkctl dump).
 */
#include <fcntl.h>

#include "base/signals.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"
#include "store/record.h"
#include "watch/core_file.h"

static int dump_job(const struct ms_job *job, const char *path, struct ms_error *err)
{
	const struct driver *driver = driver_find(job->driver);
	struct core_source source = { driver, -1, job->instance, job->job_id };
	int error;

	if (job->state != MS_JOB_ACTIVE)
		return ms_fail(err, "expected job %u in LWK mode, found it in the state %s%s%s",
			       job->job_id, ms_job_state_word(job->state), *job->reason ? ": " : "",
			       job->reason);
	if (!driver || !driver->dumping)
		return ms_fail(err,
			       "expected an LWK of a driver that makes dumps, found the driver "
			       "\"%s\"; slurm-lwk-admin(7) says what each driver can do",
			       job->driver);
	source.dev = driver->open(err);
	if (source.dev < 0)
		return -1;
	error = core_file_write(&source, AT_FDCWD, path);
	driver->close(source.dev);
	return error ? ms_fail(err, "job %u's LWK cannot be dumped to %s: %s", job->job_id, path,
			       core_file_reason(error))
		     : 0;
}

int ms_dump(uint32_t job_id, const char *path, struct ms_error *err)
{
	struct ms_job job;
	int ret;

	if (record_find(job_id, &job, err) < 0)
		return -1;
	signals_hold();
	ret = dump_job(&job, path, err);
	signals_release();
	ms_job_release(&job);
	return ret;
}
