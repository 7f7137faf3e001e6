// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives back what crashes have left: the shares of jobs that are over, and for 'lwkctl reset'
 * everything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/patience.h"
#include "driver/driver.h"
#include "interrupts/quiet/quiet.h"
#include "limits/limits.h"
#include "machine/memory.h"
#include "machine/sysview/sysview.h"
#include "migrate/home/rehome.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "store/journal.h"
#include "store/lock_holder.h"
#include "store/record.h"
#include "store/state.h"
#include "switch/fault.h"
#include "switch/look.h"
#include "switch/steps/memory/give_back.h"
#include "switch/undo.h"
#include "switch/warm.h"

/* Lists the ids that are in one of the lists, which ascend; NULL: no memory. */
static uint32_t *join(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b, ssize_t *n)
{
	uint32_t *all = calloc(n_a + n_b + 1, sizeof(*all));
	size_t i = 0, j = 0;

	*n = 0;
	while (all && (i < n_a || j < n_b)) {
		if (j == n_b || (i < n_a && a[i] < b[j])) {
			all[(*n)++] = a[i++];
		} else {
			i += i < n_a && a[i] == b[j];
			all[(*n)++] = b[j++];
		}
	}
	return all;
}

/*
 * Lists the jobs that have a journal or a record, and, if 'announced', those whose switch has only been
 * announced; ascending, each once. Their number, or -1.
 */
static ssize_t known_jobs(bool announced, uint32_t **out, struct ms_error *err)
{
	static const char *const suffixes[] = { ".journal", ".json", ".begun" };
	uint32_t *all = NULL, *more, *joined;
	ssize_t n = 0, n_more;

	for (size_t i = 0; i < (announced ? 3 : 2); i++) {
		n_more = state_jobs(suffixes[i], &more, err);
		joined = n_more < 0 ? NULL : join(all, n, more, n_more, &n);
		free(all);
		free(more);
		all = joined;
		if (!all)
			return n_more < 0 ? -1 : ms_fail(err, "out of memory");
	}
	*out = all;
	return n;
}

/* True for an LWK that no job of Slurm's has, such as that of lwkctl bench: it lives with its maker. */
static bool is_makers(uint32_t job_id)
{
	struct maker maker;

	return ms_switch_announced(job_id) < 0 && journal_maker(job_id, &maker) &&
	       maker_lives(&maker);
}

int ms_reconcile(bool (*alive)(uint32_t job_id, void *context), void *context, struct ms_error *err)
{
	uint32_t *jobs;
	ssize_t n = known_jobs(true, &jobs, err);
	struct ms_error why;
	int ret = n < 0 ? -1 : 0;

	for (ssize_t i = 0; i < n; i++) {
		if (!is_makers(jobs[i]) && !alive(jobs[i], context) &&
		    ms_switch_off(jobs[i], NULL, &why) < 0 && ret == 0)
			ret = ms_fail(err, "job %u: %s", jobs[i], why.text);
	}
	free(jobs);
	return ret;
}

static int end_instances(const struct switching *all, struct ms_error *err)
{
	struct instance_info info;
	int error, ret = 0;

	for (unsigned i = 0; i < all->driver->max_instances; i++) {
		if (all->driver->info(all->dev, i, &info) < 0)
			continue;
		error = all->driver->destroy(all->dev, i);
		if (error)
			ret = ms_fail(err, "LWK instance %u cannot be ended: %s", i,
				      strerror(-error));
		else
			switching_say(all, "LWK instance %u of job %u is ended", i, info.job_id);
	}
	return ret;
}

static int give_back_cpu(const struct switching *all, unsigned cpu, struct ms_error *err)
{
	struct patience patience = patience_for(RETURN_CPU_MS);
	int error;

	do
		error = all->driver->return_cpu(all->dev, cpu);
	while (patience_lasts(&patience, error));
	if (error)
		return ms_fail(err, "CPU %u cannot be given back to Linux: %s", cpu,
			       strerror(-error));
	switching_say(all, "CPU %u is back", cpu);
	return 0;
}

/* Linux chooses the zone: no journal tells any more in which zone the blocks were. */
static int give_back_blocks(const struct switching *all, const struct ms_lent *lent,
			    struct ms_error *err)
{
	uint64_t block_bytes = memory_block_bytes();
	int error = all->driver->return_memory(all->dev, lent->start, lent->bytes);

	for (uint64_t at = 0; !error && block_bytes && at < lent->bytes; at += block_bytes)
		error = kernel_write("online", "/sys/devices/system/memory/memory%ju/state",
				     (uintmax_t)((lent->start + at) / block_bytes));
	if (error)
		return ms_fail(err, "memory at %#jx (%ju MB) cannot be given back to Linux: %s",
			       (uintmax_t)lent->start, (uintmax_t)(lent->bytes >> 20),
			       strerror(-error));
	switching_say(all, "memory at %#jx (%ju MB) is back", (uintmax_t)lent->start,
		      (uintmax_t)(lent->bytes >> 20));
	return 0;
}

/* Gives back what is in the ledger: no journal names it any more. */
static int give_back_leftovers(struct switching *all, struct ms_error *err)
{
	struct ms_lent *lent = NULL;
	struct ms_error why;
	int ret = 0;
	size_t n;

	all->dev = driver_open_any(all->driver, err);
	if (all->dev < 0)
		return all->dev == -ENOENT ? 0 : -1;
	if (end_instances(all, err) < 0 || switching_ledger(all, &lent, &n, err) < 0)
		ret = -1;
	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (lent[i].is_cpu)
			ret = give_back_cpu(all, lent[i].cpu, err);
		else if (lent[i].is_blocks)
			ret = give_back_blocks(all, &lent[i], err);
	}
	free(lent);
	if (ret == 0 && give_back_runs(all, &why) < 0)
		ret = ms_fail(err, "%s", why.text);
	all->driver->close(all->dev);
	return ret;
}

/*
 * Removes a damaged journal, which has been undone as far as it can be read, and by force one that
 * cannot be undone. The caller has found that nothing at all is lent any more.
 */
static int forget_journal(const struct switching *all, uint32_t job_id, bool force,
			  struct ms_error *err)
{
	struct journal *journal;
	bool damaged = false;

	if (journal_open(job_id, &journal, err) == FOUND) {
		damaged = journal->damaged_line;
		journal_close(journal);
	}
	if ((!damaged && !force) || journal_remove(job_id, err) < 0 ||
	    record_remove(job_id, err) < 0)
		return -1;
	switching_say(all, "the %s journal of job %u is removed", damaged ? "damaged" : "useless",
		      job_id);
	return 0;
}

static int reset_all(bool force, ms_say say, void *context, struct ms_error *err)
{
	struct switching all = { .say = say, .say_context = context };
	uint32_t *jobs;
	ssize_t n = known_jobs(false, &jobs, err);
	struct ms_error why;
	int ret = n < 0 ? -1 : 0, left = 0;

	for (ssize_t i = 0; i < n; i++) {
		switching_say(&all, "job %u:", jobs[i]);
		if (switch_off_locked(jobs[i], NULL, say, context, &why) == 0)
			jobs[i] = MS_ALL_JOBS; /* done */
	}
	for (size_t i = 0; (all.driver = driver_number(i)); i++) {
		if (give_back_leftovers(&all, err) < 0)
			left = ret = -1;
	}
	if (limits_remove_all(err) < 0 || sysview_remove_all(err) < 0 ||
	    quiet_make_pass(NULL, err) < 0)
		ret = -1;
	for (ssize_t i = 0; i < n; i++) {
		if (jobs[i] == MS_ALL_JOBS ||
		    (left == 0 && forget_journal(&all, jobs[i], force, &why) == 0))
			continue;
		if (ret == 0 && switch_off_locked(jobs[i], NULL, say, context, &why) < 0)
			ret = ms_fail(err, "job %u: %s", jobs[i], why.text);
	}
	free(jobs);
	return ret;
}

/* A process that waits for Linux ends later, if at all; state_lock() waits for it. */
static void kill_holder(const struct switching *all)
{
	pid_t holder = lock_holder();

	if (holder > 0 && lock_holder_is_step(holder)) {
		switching_say(all,
			      "process %d, which has the lock of switching, is a job's step that "
			      "keeps a dump; it is waited for",
			      holder);
		return;
	}
	holder = lock_holder_kill();
	if (holder > 0)
		switching_say(all, "process %d, which held the lock of switching, is killed",
			      holder);
}

int ms_reset(uint32_t job_id, enum ms_reset_mode mode, ms_say say, void *context,
	     struct ms_error *err)
{
	struct switching all = { .say = say, .say_context = context };
	bool force = mode == MS_RESET_FORCE;
	int jobs = state_open_jobs(err), lock, ret;

	/* A caller without root's rights, perhaps root of a name space only, is told nothing. */
	if (jobs < 0)
		return -1;
	close(jobs);
	ret = reset_look(&all, job_id, err);
	if (mode == MS_RESET_DRY_RUN)
		return ret;
	if (force)
		kill_holder(&all);
	if (job_id == MS_ALL_JOBS && fault_forget())
		switching_say(&all, "the order of a fault is removed");
	lock = state_lock(UNDO_LOCK_MS, err);
	if (lock < 0)
		return -1;
	if (job_id == MS_ALL_JOBS)
		ret = reset_all(force, say, context, err);
	else
		ret = switch_off_locked(job_id, NULL, say, context, err);
	rehome_start();
	close(lock);
	return ret;
}

/*
 * True when no process looks after the job any more, because its switch was broken off or got
 * stuck. The caller has the lock, so no switch goes on.
 */
static bool is_left_behind(uint32_t job_id)
{
	/* A journal without a record is left behind, too. */
	struct ms_job job = { .state = MS_JOB_SWITCHING };
	struct ms_error ignored;
	bool left_behind;
	int got = ms_job_get(job_id, &job, &ignored);

	/* The job of a record that cannot be read may run. */
	left_behind = got >= 0 && (job.state == MS_JOB_STUCK || job.state == MS_JOB_SWITCHING);
	if (got == 1)
		ms_job_release(&job);
	return left_behind;
}

/* Switches off the jobs that nobody looks after; gives back all when the node knows no others. */
static int repair_jobs(ms_say say, void *context, struct ms_error *err)
{
	uint32_t *jobs;
	ssize_t n = known_jobs(false, &jobs, err), others = 0;
	int ret = n < 0 ? -1 : 0;

	for (ssize_t i = 0; i < n; i++)
		others += !is_left_behind(jobs[i]);
	if (n >= 0 && others == 0)
		ret = reset_all(false, say, context, err);
	for (ssize_t i = 0; others && i < n; i++) {
		if (is_left_behind(jobs[i]) &&
		    switch_off_locked(jobs[i], NULL, say, context, err) < 0)
			ret = -1;
	}
	free(jobs);
	return ret;
}

int ms_repair(ms_say say, void *context, struct ms_error *err)
{
	struct switching all = { .say = say, .say_context = context };
	int lock = state_lock(0, err), ret;

	if (lock < 0)
		return -1;
	ret = warm_end(true, say, context, err);
	if (repair_jobs(say, context, err) < 0)
		ret = -1;
	if (fault_forget())
		switching_say(&all, "the order of a fault is removed");
	close(lock);
	return ret;
}
