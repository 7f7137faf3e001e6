// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what switches have left: stuck jobs, journals of nobody, a warm partition that is
 * overdue.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "node/check/check.h"
#include "store/state.h"

void check_jobs(struct checking *checking)
{
	struct ms_job *jobs;
	struct ms_error err;
	int stuck = 0, unreadable = 0;
	size_t n;

	if (ms_job_list(&jobs, &n, &err) < 0) {
		check_tell(checking, MS_PROBLEM, "jobs", "run 'lwkctl reset'", "%s", err.text);
		return;
	}
	if (ms_warm_left() == 0)
		check_tell(checking, MS_PROBLEM, "warm",
			   "run 'lwkctl cool'; the next job to start does it too",
			   "CPUs and memory are kept warm for longer than KeepWarm= says");
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].state == MS_JOB_STUCK && ++stuck)
			check_tell(checking, MS_PROBLEM, "jobs",
				   "run 'lwkctl reset JOB'; a job that is over "
				   "must leave nothing",
				   "job %u is stuck: %s", jobs[i].job_id, jobs[i].reason);
		if (jobs[i].state == MS_JOB_UNREADABLE && ++unreadable)
			check_tell(checking, MS_PROBLEM, "jobs",
				   "run 'lwkctl reset JOB' when the job is over; it ends the job's "
				   "LWK",
				   "job %u: %s", jobs[i].job_id, jobs[i].reason);
	}
	ms_job_list_free(jobs, n);
	if (!stuck && !unreadable)
		check_tell(checking, MS_FINE, "jobs", NULL, "%zu known, none stuck", n);
}

/* A journal is stale when nobody holds the lock and its job's record says that a switch goes on. */
void check_journals(struct checking *checking)
{
	struct ms_error ignored;
	uint32_t *ids;
	ssize_t n = state_jobs(".journal", &ids, &ignored);
	char path[4096];
	int fd, stale = 0;

	snprintf(path, sizeof(path), "%s/lock", state_dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		for (ssize_t i = 0; i < n; i++) {
			struct ms_job job = { .state = MS_JOB_SWITCHING };
			int got = ms_job_get(ids[i], &job, &ignored);

			/* check_jobs() tells what cannot be read. */
			if (got >= 0 &&
			    (job.state == MS_JOB_SWITCHING || job.state == MS_JOB_REFUSED)) {
				stale++;
				check_tell(checking, MS_PROBLEM, "journals",
					   "run 'lwkctl check --repair' or 'lwkctl reset JOB'",
					   "a switch for job %u was broken off and not undone",
					   ids[i]);
			}
			if (got == 1)
				ms_job_release(&job);
		}
	}
	if (fd >= 0)
		close(fd);
	free(ids);
	snprintf(path, sizeof(path), "%s/" FAULT_FILE, state_dir);
	if (access(path, F_OK) == 0)
		check_tell(checking, MS_PROBLEM, "fault", "run 'lwkctl check --repair'",
			   "root has ordered a fault, for a test, by %s", path);
	if (!stale)
		check_tell(checking, MS_FINE, "journals", NULL, "none is stale");
}
