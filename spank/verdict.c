// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat/slurm_compat.h"
#include "drain.h"

#define FAILED_WITH_1 (1 << 8)

/*
 * This mark stands before the reason in a job's AdminComment, which only Slurm's administrators can
 * write. It has the run's number, because a requeued job keeps the comment of its former run.
 */
#define MARK "lwk run %u: "
#define MARK_SIZE 32

/*
 * slurmctld sends the text and the end of srun or salloc independently. Nothing tells when the text
 * has arrived; it mostly takes a tenth of this time.
 */
#define NOTIFY_SECONDS 2

/* slurmctld may be away for a while, and a node may take longer than SwitchTimeout=. */
#define POLL_US 300000
#define UNANSWERED_MAX 200

static slurm_job_info_t *find(job_info_msg_t *message, uint32_t job_id)
{
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (compat_job_id(&message->job_array[i]) == job_id)
			return &message->job_array[i];
	}
	return NULL;
}

/* The leader of a heterogeneous job's components has its script and its end. */
static uint32_t leader_of(const slurm_job_info_t *job)
{
	return job->het_job_id ? job->het_job_id : compat_job_id(job);
}

/* Finds the reason of this run of the job; NULL: there is none. */
static const char *reason_of(const slurm_job_info_t *job)
{
	const char *reason;
	char mark[MARK_SIZE];

	snprintf(mark, sizeof(mark), MARK, job->restart_cnt + 1);
	reason = job->admin_comment ? strstr(job->admin_comment, mark) : NULL;
	return reason ? reason + strlen(mark) : NULL;
}

static void log_failure(uint32_t job_id, const char *what)
{
	slurm_error("lwk: job %u: cannot %s: %s", job_id, what, slurm_strerror(errno));
}

/* Appends the reason to the job's comment, unless another node has done so. */
static void keep_with_job(const slurm_job_info_t *job, const char *text)
{
	job_desc_msg_t update;
	char *comment;

	if (reason_of(job))
		return;
	if (asprintf(&comment, "%s%s" MARK "%s", job->admin_comment ? job->admin_comment : "",
		     job->admin_comment ? "; " : "", job->restart_cnt + 1, text) < 0)
		return;
	compat_describe_job(&update, compat_job_id(job));
	update.admin_comment = comment;
	if (slurm_update_job(&update) != 0)
		log_failure(compat_job_id(job), "keep the reason with the job");
	free(comment);
}

static void end_job(uint32_t job_id, const char *text)
{
	char message[sizeof(((struct ms_error *)0)->text) + 8];

	snprintf(message, sizeof(message), "lwk: %s", text);
	/* Nobody may be left to tell, as after salloc --no-shell. */
	if (compat_notify_job(job_id, message) == 0)
		sleep(NOTIFY_SECONDS);
	if (compat_complete_job(job_id, FAILED_WITH_1) != 0)
		log_failure(job_id, "end the job");
}

static void refuse_job(const slurm_job_info_t *leader, uint32_t job_id, const char *reason)
{
	const char *node = getenv("SLURMD_NODENAME");
	struct ms_error text;

	if (leader->num_nodes == 1 && !leader->het_job_id)
		return;
	ms_fail(&text, "job %u cannot have LWK mode on its node %s: %s", job_id,
		node ? node : "(unknown)", reason);
	keep_with_job(leader, text.text);
	if (!leader->batch_flag)
		end_job(compat_job_id(leader), text.text);
}

void verdict_refuse(uint32_t job_id, const char *reason)
{
	uint32_t asked, leader_id = job_id;
	job_info_msg_t *message;
	slurm_job_info_t *job;

	/* slurmctld answers with one component, or with all when it is asked for the leader. */
	do {
		asked = leader_id;
		if (compat_load_job(&message, asked, SHOW_ALL) != 0) {
			log_failure(job_id, "tell the job's other nodes");
			return;
		}
		job = find(message, asked);
		leader_id = job ? leader_of(job) : asked;
		if (job && leader_id == asked)
			refuse_job(job, job_id, reason);
		slurm_free_job_info_msg(message);
	} while (leader_id != asked);
}

void verdict_drain(uint32_t job_id, const char *reason)
{
	struct ms_error text;

	ms_fail(&text, "lwk: job %u: %s", job_id, reason);
	if (drain_node(text.text) != 0)
		log_failure(job_id, "drain this node with the reason");
}

enum progress { WAIT, GO, STOP };

static enum progress judge_component(const slurm_job_info_t *job, struct ms_error *err)
{
	const char *reason = reason_of(job);

	if (reason) {
		ms_fail(err, "%s", reason);
		return STOP;
	}
	if ((job->job_state & JOB_COMPLETING) ||
	    (job->job_state & JOB_STATE_BASE) > JOB_SUSPENDED) {
		ms_fail(err, "job %u ended before all of its nodes were in LWK mode",
			compat_job_id(job));
		return STOP;
	}
	return job->state_reason == WAIT_PROLOG ? WAIT : GO;
}

/* Other tasks of a job array are jobs of their own and do not count. */
static enum progress judge(job_info_msg_t *message, uint32_t job_id, struct ms_error *err)
{
	enum progress all = STOP, one;

	ms_fail(err, "slurmctld knows no job %u", job_id);
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (leader_of(&message->job_array[i]) != job_id)
			continue;
		one = judge_component(&message->job_array[i], err);
		if (one == STOP)
			return STOP;
		if (all != WAIT)
			all = one;
	}
	return all;
}

int verdict_await(uint32_t job_id, struct ms_error *err)
{
	enum progress progress = WAIT;
	job_info_msg_t *message;

	for (int unanswered = 0; progress == WAIT; usleep(POLL_US)) {
		if (compat_load_job(&message, job_id, SHOW_ALL) == 0) {
			progress = judge(message, job_id, err);
			slurm_free_job_info_msg(message);
			if (progress != WAIT)
				break;
		} else if (++unanswered == UNANSWERED_MAX) {
			return ms_fail(err,
				       "slurmctld does not answer whether all nodes of job %u "
				       "are in LWK mode: %s",
				       job_id, slurm_strerror(errno));
		}
	}
	return progress == GO ? 0 : -1;
}
