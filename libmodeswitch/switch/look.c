// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/look.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "modeswitch/job.h"
#include "store/journal.h"
#include "store/lock_holder.h"
#include "store/state.h"
#include "switch/fault.h"

static void look_at_lock(const struct switching *all)
{
	pid_t holder = lock_holder();
	char name[32];

	if (holder <= 0)
		return;
	lock_holder_name(holder, name, sizeof(name));
	switching_say(all, "found: process %d (%s) holds the lock of switching", holder, name);
}

static int look_at_record(const struct switching *all, uint32_t job_id, struct ms_error *err)
{
	struct ms_job job;
	int got = ms_job_get(job_id, &job, err);

	if (got < 1)
		return got;
	switching_say(all, "found: job %u of user %u is %s%s%s", job_id, job.uid,
		      ms_job_state_word(job.state), *job.reason ? ": " : "", job.reason);
	ms_job_release(&job);
	return 0;
}

static int look_at_journal(const struct switching *all, uint32_t job_id, struct ms_error *err)
{
	struct journal *journal;
	enum found found = journal_open(job_id, &journal, err);
	size_t n, length = 0;
	char names[256] = "";

	if (found != FOUND)
		return found == FOUND_NONE ? 0 : -1;
	n = json_object_array_length(journal->entries);
	for (size_t i = 0; i < n && length < sizeof(names); i++) {
		struct json_object *entry = json_object_array_get_idx(journal->entries, i);

		length += snprintf(names + length, sizeof(names) - length, "%s%s", i ? " " : "",
				   journal_text(entry, "step"));
	}
	switching_say(all, "found: a journal of job %u with %zu steps to undo: %s", job_id, n,
		      names);
	if (journal->damaged_line)
		switching_say(all, "found: line %u of the journal of job %u is damaged",
			      journal->damaged_line, job_id);
	journal_close(journal);
	return 0;
}

/* Looks at the job's file with that suffix, or at those of all jobs. */
static int look_at_jobs(const struct switching *all, uint32_t job_id, const char *suffix,
			int (*look)(const struct switching *, uint32_t, struct ms_error *),
			struct ms_error *err)
{
	uint32_t *ids;
	ssize_t n = state_jobs(suffix, &ids, err);
	struct ms_error why;
	int ret = n < 0 ? -1 : 0;

	for (ssize_t i = 0; i < n; i++) {
		if (job_id != MS_ALL_JOBS && job_id != ids[i])
			continue;
		if (look(all, ids[i], &why) < 0) {
			switching_say(all, "found: %s", why.text);
			ret = ms_fail(err, "%s", why.text);
		}
	}
	free(ids);
	return ret;
}

static bool is_wanted(const struct switching *with, uint32_t job_id, const struct ms_lent *lent)
{
	struct instance_info info;

	return job_id == MS_ALL_JOBS ||
	       (lent->instance != MS_NO_INSTANCE &&
		with->driver->info(with->dev, lent->instance, &info) == 0 && info.job_id == job_id);
}

static void tell_lent(const struct switching *with, const struct ms_lent *lent)
{
	char what[64], whose[48] = "no LWK";

	if (lent->is_cpu)
		snprintf(what, sizeof(what), "CPU %u", lent->cpu);
	else
		snprintf(what, sizeof(what), "memory at %#jx (%ju MB)", (uintmax_t)lent->start,
			 (uintmax_t)(lent->bytes >> 20));
	if (lent->instance != MS_NO_INSTANCE)
		snprintf(whose, sizeof(whose), "LWK instance %d", lent->instance);
	switching_say(with, "found: %s is lent, to %s", what, whose);
}

static int look_at_ledger(struct switching *with, uint32_t job_id, struct ms_error *err)
{
	struct instance_info info;
	struct ms_lent *lent = NULL;
	size_t n = 0;
	int ret;

	with->dev = driver_open_any(with->driver, err);
	if (with->dev < 0)
		return with->dev == -ENOENT ? 0 : -1;
	for (unsigned i = 0; i < with->driver->max_instances; i++) {
		if (with->driver->info(with->dev, i, &info) == 0 &&
		    (job_id == MS_ALL_JOBS || job_id == info.job_id))
			switching_say(with, "found: LWK instance %u of job %u is %s", i,
				      info.job_id, info.state);
	}
	ret = switching_ledger(with, &lent, &n, err);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (is_wanted(with, job_id, &lent[i]))
			tell_lent(with, &lent[i]);
	}
	free(lent);
	with->driver->close(with->dev);
	return ret;
}

int reset_look(const struct switching *all, uint32_t job_id, struct ms_error *err)
{
	struct switching with = *all;
	char path[PATH_MAX];
	int ret;

	look_at_lock(all);
	snprintf(path, sizeof(path), "%s/" FAULT_FILE, state_dir);
	if (access(path, F_OK) == 0)
		switching_say(all, "found: root has ordered a fault by %s", path);
	ret = look_at_jobs(all, job_id, ".json", look_at_record, err);
	if (look_at_jobs(all, job_id, ".journal", look_at_journal, err) < 0)
		ret = -1;
	for (size_t i = 0; (with.driver = driver_number(i)); i++) {
		if (look_at_ledger(&with, job_id, err) < 0)
			ret = -1;
	}
	return ret;
}
