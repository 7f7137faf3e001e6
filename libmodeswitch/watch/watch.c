// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watches the instance of a job through its driver.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "driver/counters.h"
#include "driver/driver.h"
#include "modeswitch/counters.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"
#include "store/record.h"

struct ms_watch {
	uint32_t job_id;
	const struct watching *driver;
	int fd;
};

static int no_access(const struct ms_job *job, int error, struct ms_error *err)
{
	if (error == -EACCES || error == -EPERM)
		return ms_fail(
			err,
			"job %u belongs to user %u; expected to be that user, or root, found "
			"user %u",
			job->job_id, job->uid, geteuid());
	return ms_fail(err, "%s of job %u cannot be opened: %s", job->device, job->job_id,
		       strerror(-error));
}

static int open_job(const struct ms_job *job, struct ms_watch *watch, struct ms_error *err)
{
	const struct driver *driver = driver_find(job->driver);
	struct ms_instance_info info;

	if (!driver || !driver->watching)
		return ms_fail(err,
			       "expected an LWK of a driver that watches, found the driver \"%s\"; "
			       "slurm-lwk-admin(7) says what each driver can do",
			       job->driver);
	watch->job_id = job->job_id;
	watch->driver = driver->watching;
	watch->fd = driver->watching->open(job->device);
	if (watch->fd < 0)
		return no_access(job, watch->fd, err);
	/* Another job's instance may have the number now. */
	if (ms_watch_info(watch, &info, err) == 0 && info.job_id == job->job_id)
		return 0;
	close(watch->fd);
	return ms_fail(err, "job %u has just ended", job->job_id);
}

int ms_watch_open(uint32_t job_id, struct ms_watch **out, struct ms_error *err)
{
	struct ms_watch *watch;
	struct ms_job job;
	int ret;

	if (record_find(job_id, &job, err) < 0)
		return -1;
	watch = malloc(sizeof(*watch));
	if (!watch)
		ret = ms_fail(err, "out of memory");
	else if (job.state != MS_JOB_ACTIVE)
		ret = ms_fail(err, "expected job %u in LWK mode, found it in the state %s%s%s",
			      job_id, ms_job_state_word(job.state), *job.reason ? ": " : "",
			      job.reason);
	else
		ret = open_job(&job, watch, err);
	ms_job_release(&job);
	if (ret < 0)
		free(watch);
	else
		*out = watch;
	return ret;
}

void ms_watch_close(struct ms_watch *watch)
{
	if (!watch)
		return;
	close(watch->fd);
	free(watch);
}

static int failed(const struct ms_watch *watch, const char *what, int error, struct ms_error *err)
{
	return ms_fail(err, "the %s of job %u's LWK cannot be read: %s", what, watch->job_id,
		       strerror(-error));
}

/* For operations that the driver does not have. 'what' is what the LWK cannot be. */
static int unable(const struct ms_watch *watch, const char *what, struct ms_error *err)
{
	return ms_fail(err,
		       "the LWK of job %u cannot be %s: the driver of this kind of LWK has no way "
		       "to do that; slurm-lwk-admin(7) says what each driver can do",
		       watch->job_id, what);
}

int ms_watch_info(struct ms_watch *watch, struct ms_instance_info *info, struct ms_error *err)
{
	int error = watch->driver->info(watch->fd, info);

	return error ? failed(watch, "state", error, err) : 0;
}

int ms_watch_usage(struct ms_watch *watch, struct ms_usage *usage, struct ms_error *err)
{
	struct timespec now;
	int error;

	memset(usage, 0, sizeof(*usage));
	if (!watch->driver->usage)
		return unable(watch, "asked for statistics", err);
	error = watch->driver->usage(watch->fd, usage);
	if (error == -ENODATA)
		return 0;
	if (error)
		return failed(watch, "statistics", error, err);
	clock_gettime(CLOCK_REALTIME, &now);
	usage->when_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	return 1;
}

void ms_usage_release(struct ms_usage *usage)
{
	free(usage->cpus);
	free(usage->nodes);
	usage->cpus = NULL;
	usage->nodes = NULL;
}

ssize_t ms_watch_console(struct ms_watch *watch, uint64_t *position, char *text, size_t size,
			 struct ms_error *err)
{
	ssize_t got = watch->driver->console(watch->fd, position, text, size);

	return got < 0 ? failed(watch, "console", got, err) : got;
}

int ms_watch_eventfd(struct ms_watch *watch, enum ms_event event, struct ms_error *err)
{
	int fd, error;

	if (!watch->driver->listen)
		return unable(watch, "asked for events", err);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = fd < 0 ? -errno : watch->driver->listen(watch->fd, event, fd);
	if (!error)
		return fd;
	if (fd >= 0)
		close(fd);
	return failed(watch, "events", error, err);
}

int ms_watch_freeze(struct ms_watch *watch, bool frozen, unsigned timeout_ms, struct ms_error *err)
{
	int error;

	if (!watch->driver->freeze)
		return unable(watch, frozen ? "frozen" : "thawed", err);
	error = watch->driver->freeze(watch->fd, frozen, timeout_ms);
	if (!error)
		return 0;
	if (error == -ETIMEDOUT)
		return ms_fail(err,
			       "the LWK of job %u was not frozen within %u ms, and goes on; "
			       "'lwkctl info %u' may tell more",
			       watch->job_id, timeout_ms, watch->job_id);
	return ms_fail(err, "the LWK of job %u cannot be %s: %s", watch->job_id,
		       frozen ? "frozen" : "thawed",
		       error == -EHOSTDOWN ? "it does not run" : strerror(-error));
}

static int counters_failed(const struct ms_watch *watch, const char *what, int error,
			   struct ms_error *err)
{
	switch (error) {
	case 0:
		return 0;
	case -ENOENT:
		return ms_fail(err,
			       "the CPUs of job %u have no counters; register some first ('lwkctl "
			       "counters %u set EVENT...')",
			       watch->job_id, watch->job_id);
	case -ETIMEDOUT:
		return ms_fail(
			err,
			"expected the counters of job %u %s, found a CPU that stays busy in the "
			"LWK, and will follow later; try again",
			watch->job_id, what);
	default:
		return ms_fail(err, "the counters of job %u cannot be %s: %s", watch->job_id, what,
			       error == -EHOSTDOWN || error == -ENODATA ? "the LWK does not run"
									: strerror(-error));
	}
}

int ms_counters_set(struct ms_watch *watch, const char *const *events, size_t n,
		    struct ms_error *err)
{
	struct lwk_counter counters[MS_MAX_COUNTERS] = { 0 };
	struct ms_usage usage;
	int got = ms_watch_usage(watch, &usage, err);

	if (got < 0)
		return -1;
	if (!got)
		return counters_failed(watch, "set", -EHOSTDOWN, err);
	got = counters_place(events, n, &usage.pmu, counters, err);
	ms_usage_release(&usage);
	if (got < 0)
		return -1;
	return counters_failed(watch, "set", watch->driver->set_counters(watch->fd, counters, n),
			       err);
}

int ms_counters_start(struct ms_watch *watch, struct ms_error *err)
{
	if (!watch->driver->run_counters)
		return unable(watch, "asked to count", err);
	return counters_failed(watch, "started", watch->driver->run_counters(watch->fd, true), err);
}

int ms_counters_stop(struct ms_watch *watch, struct ms_error *err)
{
	if (!watch->driver->run_counters)
		return unable(watch, "asked to count", err);
	return counters_failed(watch, "stopped", watch->driver->run_counters(watch->fd, false),
			       err);
}

int ms_counters_remove(struct ms_watch *watch, struct ms_error *err)
{
	if (!watch->driver->set_counters)
		return unable(watch, "asked to count", err);
	return counters_failed(watch, "removed", watch->driver->set_counters(watch->fd, NULL, 0),
			       err);
}

int ms_counters_read(struct ms_watch *watch, struct ms_counters *counters, struct ms_error *err)
{
	if (!watch->driver->read_counters)
		return unable(watch, "asked for counters", err);
	return counters_failed(watch, "read", watch->driver->read_counters(watch->fd, counters),
			       err);
}

/* Moves the guard, whose looks are to disturb nobody but the job. */
static void go_to_job(uint32_t job_id)
{
	struct ms_error ignored;
	struct ms_job job;

	if (ms_job_get(job_id, &job, &ignored) != 1)
		return;
	process_go_to(job.linux_cpus);
	ms_job_release(&job);
}

int ms_guard(uint32_t job_id, struct ms_error *err)
{
	struct ms_watch *watch;
	int ret = 0;

	if (ms_watch_open(job_id, &watch, err) < 0)
		return -1;
	if (watch->driver->guard) {
		go_to_job(job_id);
		ret = watch->driver->guard(watch->fd);
	}
	ms_watch_close(watch);
	return ret;
}
