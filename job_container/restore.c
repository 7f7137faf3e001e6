// SPDX-License-Identifier: GPL-2.0-or-later
#include "restore.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alive.h"
#include "base/clock.h"
#include "drain.h"
#include "lost.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"
#include "modeswitch/job.h"
#include "modeswitch/migrate.h"
#include "restart.h"

/* slurmctld often starts later than the nodes, so it is asked again for half an hour. */
#define ROUNDS 180
#define ROUND_SECONDS 10

/* Jobs fail that start while CPUs are still lent; a few seconds avoid most of that. */
#define HOLD_SLURMD_MS 10000

/*
 * A slurmd that runs a prolog tells slurmctld of its end within a second. A switch whose process
 * has died never ends.
 */
#define LOST_SECONDS 60
#define LOST_SWITCHING_SECONDS 600

struct survey {
	const char *spool_directory;
	bool again; /* slurmctld did not answer for some job, or waits for its prolog */
};

/* Without a slurmstepd only a switch can go on for this job. */
static bool is_lost(uint32_t job_id)
{
	int64_t seconds, announced = ms_switch_announced(job_id);
	struct ms_error ignored;
	struct ms_job job;
	bool lost;

	if (ms_job_get(job_id, &job, &ignored) != 1)
		return announced >= 0 && clock_ms() - announced >= 1000LL * LOST_SWITCHING_SECONDS;
	seconds = ms_job_age(&job);
	lost = seconds >= (job.state == MS_JOB_SWITCHING ? LOST_SWITCHING_SECONDS : LOST_SECONDS);
	ms_job_release(&job);
	return lost;
}

static bool is_alive(uint32_t job_id, void *context)
{
	struct survey *survey = context;

	if (alive_here(survey->spool_directory, job_id))
		return true;
	switch (alive_ask_slurmctld(job_id)) {
	case ALIVE_YES:
		return true;
	case ALIVE_NO:
		slurm_info("lwk: job %u ended while slurmd was away: switching back", job_id);
		return false;
	case ALIVE_PROLOG:
		survey->again = true;
		if (is_lost(job_id))
			lost_prolog(job_id);
		return true;
	default:
		/* To wait is better than to end a job that still runs. */
		survey->again = true;
		return true;
	}
}

/* No epilog does it for a job that ended while the node was down. */
static bool drain(const char *reason)
{
	struct ms_error text;

	slurm_error("lwk: cannot switch back what ended jobs left behind: %s", reason);
	ms_fail(&text, "lwk: %s", reason);
	if (drain_node(text.text) == 0)
		return true;
	slurm_error("lwk: cannot drain this node with the reason: %s", slurm_strerror(errno));
	return false;
}

static void reconcile(const char *spool_directory)
{
	struct ms_error err;
	bool failed, drained = false;

	for (int round = 0; round < ROUNDS; round++) {
		struct survey survey = { .spool_directory = spool_directory };

		failed = ms_reconcile(is_alive, &survey, &err) < 0;
		if (failed && !drained)
			drained = drain(err.text);
		if (!survey.again && (!failed || drained))
			return;
		sleep(ROUND_SECONDS);
	}
	if (!drained)
		drain("slurmctld does not tell which jobs of this node have ended, so what they "
		      "left behind stays lent; start slurmd again, or run 'lwkctl reset'");
}

/* Waits until the other end of the pipe is closed, but not longer than HOLD_SLURMD_MS. */
static void hold(int fd)
{
	struct pollfd end = { .fd = fd };

	while (poll(&end, 1, HOLD_SLURMD_MS) < 0 && errno == EINTR)
		;
}

/* Reconciles in a process of its own, because slurmctld may take long to answer. */
static void reconcile_aside(const char *spool_directory)
{
	int done[2];
	pid_t child;

	if (pipe2(done, O_CLOEXEC) < 0) {
		slurm_error("lwk: pipe: %s", strerror(errno));
		return;
	}
	child = fork();
	if (child == 0) {
		close(done[0]);
		/*
		 * The second fork is init's child: slurmd waits only for children that it started
		 * itself.
		 */
		if (fork() == 0) {
			setsid();
			reconcile(spool_directory);
		}
		_exit(0);
	}
	close(done[1]);
	if (child < 0) {
		slurm_error("lwk: fork: %s", strerror(errno));
	} else {
		waitpid(child, NULL, 0);
		hold(done[0]);
	}
	close(done[0]);
}

void restore(const char *spool_directory)
{
	struct ms_job *jobs;
	struct ms_error err;
	bool lent = false;
	size_t n;

	if (ms_job_list(&jobs, &n, &err) < 0) {
		slurm_error("lwk: cannot tell which jobs of this node are LWK jobs: %s", err.text);
		return;
	}
	for (size_t i = 0; i < n; i++)
		lent |= jobs[i].state != MS_JOB_REFUSED && jobs[i].state != MS_JOB_QUIET;
	ms_job_list_free(jobs, n);
	if (ms_quiet_resume(&err) < 0)
		slurm_error("lwk: interrupts are not kept away from jobs with --quiet-irqs: %s",
			    err.text);
	ms_rehome_resume();
	if (lent)
		restart_with_whole_machine();
	reconcile_aside(spool_directory);
}
