// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for jobs that have an LWK by their records although they are over by Slurm, and gives back
 * what they have. No epilog does that any more, so the node would fail one job after the other.
 *
 * Slurm does not know the LWKs of others either, such as that of lwkctl bench. These are only told: who
 * has made one may need it, and slurmctld cannot say when it is over.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "node/check/check.h"
#include "node/check/scontrol.h"
#include "store/journal.h"
#include "store/state.h"
#include "switch/steps/step.h"
#include "switch/undo.h"

/* One run of a job: a requeued job has the same id, and another record or announcement. */
struct run {
	uint32_t job_id;
	int64_t since, since_boot, announced;
};

/* Slurm's prolog announces each switch, and nobody else does. */
static bool is_slurms(const struct run *run)
{
	return run->announced >= 0;
}

/* Lists the runs that are in LWK mode by their records. Their number, or -1. */
static ssize_t list_runs(struct run **out, struct ms_error *err)
{
	struct ms_job *jobs;
	struct run *runs;
	ssize_t count = 0;
	size_t n;

	if (ms_job_list(&jobs, &n, err) < 0)
		return -1;
	runs = calloc(n + 1, sizeof(*runs));
	for (size_t i = 0; runs && i < n; i++) {
		if (jobs[i].state != MS_JOB_ACTIVE)
			continue;
		runs[count++] = (struct run){ .job_id = jobs[i].job_id,
					      .since = jobs[i].since,
					      .since_boot = jobs[i].since_boot,
					      .announced = ms_switch_announced(jobs[i].job_id) };
	}
	ms_job_list_free(jobs, n);
	*out = runs;
	return runs ? count : ms_fail(err, "out of memory");
}

static bool is_same(const struct run *a, const struct run *b)
{
	return a->job_id == b->job_id && a->since == b->since && a->since_boot == b->since_boot &&
	       a->announced == b->announced;
}

/* Lists the runs that are over; slurmctld is asked after the records are read. */
static ssize_t list_over(struct run **out, struct ms_error *err)
{
	ssize_t n = list_runs(out, err), over = 0;

	for (ssize_t i = 0; i < n; i++) {
		if (check_job_is_over((*out)[i].job_id))
			(*out)[over++] = (*out)[i];
	}
	return n < 0 ? -1 : over;
}

static bool is_there(const struct run *run, const struct run *runs, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++) {
		if (is_same(run, &runs[i]))
			return true;
	}
	return false;
}

static void tell_over(struct checking *checking, const struct run *run)
{
	check_tell(checking, MS_PROBLEM, "jobs", "run 'lwkctl check --repair'",
		   "job %u is over, but the CPUs and the memory of its LWK are still lent",
		   run->job_id);
}

static void tell_foreign(struct checking *checking, const struct run *run)
{
	struct maker maker;
	char to_do[128];

	snprintf(to_do, sizeof(to_do),
		 "run 'lwkctl reset %u' if nobody needs it; --repair leaves it alone", run->job_id);
	if (!journal_maker(run->job_id, &maker))
		check_tell(checking, MS_PROBLEM, "jobs", to_do,
			   "job %u has an LWK, is over or unknown by Slurm, and nothing tells who "
			   "has made it",
			   run->job_id);
	else if (!maker_lives(&maker))
		check_tell(checking, MS_PROBLEM, "jobs", to_do,
			   "job %u has an LWK and is none of Slurm's: process %d (%s) has made it "
			   "and has ended",
			   run->job_id, maker.pid, maker.name);
	else
		check_tell(checking, MS_NOTE, "jobs", NULL,
			   "job %u has an LWK and is none of Slurm's: process %d (%s) has made it "
			   "and runs",
			   run->job_id, maker.pid, maker.name);
}

void check_over(struct checking *checking)
{
	struct run *over = NULL, *now = NULL;
	struct ms_error ignored; /* check_jobs() tells it */
	ssize_t n, n_now;

	/* Slurm may hide the jobs of others from other users, and then they seem to be over. */
	if (!checking->slurm || geteuid() != 0)
		return;
	n = list_over(&over, &ignored);
	/* A job may have ended since its record was read. */
	n_now = n > 0 ? list_runs(&now, &ignored) : 0;
	for (ssize_t i = 0; i < n; i++) {
		if (!is_there(&over[i], now, n_now))
			continue;
		if (is_slurms(&over[i]))
			tell_over(checking, &over[i]);
		else
			tell_foreign(checking, &over[i]);
	}
	free(now);
	free(over);
}

/* Switches one run off. On failure the node is drained, because it would fail each job that it gets. */
static int end_run(const struct run *run, ms_say say, void *context, struct ms_error *err)
{
	struct switching all = { .say = say, .say_context = context };
	struct ms_error why, text;

	switching_say(&all, "job %u, which is over:", run->job_id);
	if (switch_off_locked(run->job_id, NULL, say, context, &why) == 0)
		return 0;
	ms_fail(&text, "lwk: job %u: %s", run->job_id, why.text);
	if (check_drain_node(text.text))
		return ms_fail(err, "job %u: %s; this node is drained", run->job_id, why.text);
	return ms_fail(err, "job %u: %s; and scontrol cannot drain this node", run->job_id,
		       why.text);
}

/* Lists the runs of Slurm's that are over. */
static ssize_t list_slurms(struct run **out, struct ms_error *err)
{
	ssize_t n = list_over(out, err), slurms = 0;

	for (ssize_t i = 0; i < n; i++) {
		if (is_slurms(&(*out)[i]))
			(*out)[slurms++] = (*out)[i];
	}
	return n < 0 ? -1 : slurms;
}

int ms_repair_over(ms_say say, void *context, struct ms_error *err)
{
	struct run *over = NULL, *now = NULL;
	ssize_t n = list_slurms(&over, err), n_now;
	int lock = n > 0 ? state_lock(0, err) : -1, ret = n == 0 ? 0 : -1;

	/* The job may have ended, or may run again, since slurmctld was asked. */
	n_now = lock >= 0 ? list_runs(&now, err) : -1;
	if (n_now >= 0)
		ret = 0;
	for (ssize_t i = 0; n_now >= 0 && i < n; i++) {
		if (is_there(&over[i], now, n_now) && end_run(&over[i], say, context, err) < 0)
			ret = -1;
	}
	if (lock >= 0)
		close(lock);
	free(now);
	free(over);
	return ret;
}
