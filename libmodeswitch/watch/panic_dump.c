// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps the dump of a failed LWK for DumpOnPanic=, in a process that may wait for a file system.
 */
#include "watch/panic_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"
#include "store/record.h"
#include "store/state.h"
#include "watch/core_file.h"

/* Milliseconds for removing the part of a dump that a killed process has left. */
#define DISCARD_MS 1000
/* Milliseconds. If another job's switch takes longer, the end of this job keeps the dump. */
#define LOCK_MS 10000
#define NAME_SIZE 40

struct keeping {
	struct core_source source;
	const char *directory;
};

static void set_names(uint32_t job_id, char name[NAME_SIZE], char partial[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "lwk-%u.core", job_id);
	snprintf(partial, NAME_SIZE, ".lwk-%u.core.part", job_id);
}

/*
 * Opens a directory in which only root can make names, so that no name there is a trap. A file
 * descriptor or a negative errno.
 */
static int open_directory(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (dir < 0)
		return -errno;
	if (fstat(dir, &st) == 0 && st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return dir;
	close(dir);
	return -EPERM;
}

/*
 * Leaves the cgroups of the job, if slurmstepd has started this process. A file system that does
 * not answer can hold the process for ever; Slurm would wait for it with the job, and drain the
 * node.
 */
static void leave_job(void)
{
	static const char *const files[] = {
		"/sys/fs/cgroup/cgroup.procs", /* version 2; all others: version 1 */
		"/sys/fs/cgroup/cpuacct/cgroup.procs", "/sys/fs/cgroup/cpuset/cgroup.procs",
		"/sys/fs/cgroup/devices/cgroup.procs", "/sys/fs/cgroup/freezer/cgroup.procs",
		"/sys/fs/cgroup/memory/cgroup.procs",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int fd = open(files[i], O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		/* "0" is the caller. */
		while (write(fd, "0", 1) < 0 && errno == EINTR)
			;
		close(fd);
	}
}

static int keep(void *context)
{
	const struct keeping *keeping = context;
	char name[NAME_SIZE], partial[NAME_SIZE];
	int dir, error;

	leave_job();
	dir = open_directory(keeping->directory);
	if (dir < 0)
		return dir;
	set_names(keeping->source.job_id, name, partial);
	core_file_discard(dir, partial);
	error = core_file_write(&keeping->source, dir, partial);
	if (!error && renameat(dir, partial, dir, name) < 0) {
		error = -errno;
		unlinkat(dir, partial, 0);
	}
	return error;
}

static int discard(void *context)
{
	const struct keeping *keeping = context;
	char name[NAME_SIZE], partial[NAME_SIZE];
	int dir;

	leave_job();
	dir = open_directory(keeping->directory);
	if (dir < 0)
		return dir;
	set_names(keeping->source.job_id, name, partial);
	core_file_discard(dir, partial);
	return 0;
}

static int keep_dump(const struct driver *driver, int dev, unsigned instance, uint32_t job_id,
		     const char *directory, unsigned limit_ms, struct ms_error *err)
{
	struct keeping keeping = { { driver, dev, instance, job_id }, directory };
	int error = -EOPNOTSUPP;

	if (driver->dumping)
		error = child_call_alone(keep, &keeping, dev, clock_ms() + limit_ms);
	/* The process was killed before it could remove its part of a dump. */
	if (error == -ETIMEDOUT || error == -EINTR || error == -ECHILD)
		child_call_alone(discard, &keeping, -1, clock_ms() + DISCARD_MS);
	if (!error)
		return 0;
	return ms_fail(err,
		       "a dump of job %u's LWK was to be kept in %s (DumpOnPanic= in lwk.conf), "
		       "but %s",
		       job_id, directory, core_file_reason(error));
}

/* After a first try the job's record says what became of the dump. */
static bool is_tried(uint32_t job_id)
{
	struct ms_error ignored;
	struct ms_job job;
	bool tried;

	if (ms_job_get(job_id, &job, &ignored) != 1)
		return false;
	tried = job.state == MS_JOB_ACTIVE && *job.reason;
	ms_job_release(&job);
	return tried;
}

bool dump_if_failed(const struct driver *driver, int dev, unsigned instance, uint32_t job_id,
		    struct json_object *entry, struct ms_error *told)
{
	const char *directory = entry ? journal_text(entry, "dump") : "";
	struct instance_info info;

	if (!*directory || driver->info(dev, instance, &info) < 0 || !info.failed ||
	    is_tried(job_id))
		return false;
	if (keep_dump(driver, dev, instance, job_id, directory, journal_number(entry, "dump_ms"),
		      told) < 0) {
		syslog(LOG_DAEMON | LOG_ERR, "slurm-lwk: %s", told->text);
		return true;
	}
	ms_fail(told, "the LWK of job %u is in %s%s%s; its dump is %s/lwk-%u.core", job_id,
		info.state, *info.message ? ": " : "", info.message, directory, job_id);
	syslog(LOG_DAEMON | LOG_NOTICE, "slurm-lwk: %s", told->text);
	return true;
}

/* Finds the journal's entry of the step that made the instance; or NULL. */
static struct json_object *find_entry(const struct journal *journal)
{
	for (size_t i = 0; i < json_object_array_length(journal->entries); i++) {
		struct json_object *entry = json_object_array_get_idx(journal->entries, i);

		if (strcmp(journal_text(entry, "step"), "instance") == 0)
			return entry;
	}
	return NULL;
}

static bool dump_by_journal(const struct ms_job *job, struct ms_error *told)
{
	const struct driver *driver = driver_find(job->driver);
	struct journal *journal;
	bool done = false;
	int dev, instance;

	if (!driver || journal_open(job->job_id, &journal, told) != FOUND)
		return false;
	dev = driver->open(told);
	if (dev >= 0) {
		instance = driver_instance_of_job(driver, dev, job->job_id);
		done = instance >= 0 && dump_if_failed(driver, dev, instance, job->job_id,
						       find_entry(journal), told);
		driver->close(dev);
	}
	journal_close(journal);
	return done;
}

static int keep_once(uint32_t job_id, struct ms_error *told)
{
	struct ms_error ignored;
	struct ms_job job;
	int ret = 0;

	if (ms_job_get(job_id, &job, &ignored) != 1)
		return 0;
	if (job.state == MS_JOB_ACTIVE && *job.reason) {
		ms_fail(told, "%s", job.reason);
		ret = 1;
	} else if (job.state == MS_JOB_ACTIVE && dump_by_journal(&job, told)) {
		snprintf(job.reason, sizeof(job.reason), "%s", told->text);
		record_publish(&job, &ignored);
		ret = 1;
	}
	ms_job_release(&job);
	return ret;
}

int ms_dump_if_failed(uint32_t job_id, struct ms_error *told)
{
	struct ms_instance_info info = { .state = MS_INSTANCE_RUNNING };
	struct ms_error ignored;
	struct ms_watch *watch;
	int lock, ret;

	if (ms_watch_open(job_id, &watch, &ignored) < 0)
		return 0;
	ms_watch_info(watch, &info, &ignored);
	ms_watch_close(watch);
	if (info.state != MS_INSTANCE_PANIC && info.state != MS_INSTANCE_HUNG)
		return 0;
	lock = state_lock(LOCK_MS, &ignored);
	if (lock < 0)
		return 0;
	ret = keep_once(job_id, told);
	close(lock);
	return ret;
}
