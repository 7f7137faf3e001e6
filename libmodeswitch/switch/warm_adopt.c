// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Taking over a warm partition for a job.
 */
#include <stdlib.h>
#include <string.h>

#include "migrate/home/away_list.h"
#include "store/journal.h"
#include "store/record.h"
#include "switch/steps/table.h"
#include "switch/warm.h"
#include "switch/warm_parts.h"

/* True when the step's entries stay true for the next job. */
static bool is_kept(const char *step)
{
	return strcmp(step, step_interrupts.name) == 0 || strcmp(step, step_cpus.name) == 0 ||
	       strcmp(step, step_memory.name) == 0;
}

/* Copies the entries that undo the taking of CPUs and memory from the old job's journal. */
static int copy_journal(struct switching *switching, uint32_t from, struct ms_error *err)
{
	struct journal *old;
	enum found found = journal_open(from, &old, err);
	int ret = 0;

	if (found == FOUND_ERROR)
		return -1;
	if (found == FOUND_NONE)
		return ms_fail(err,
			       "expected a journal of warm job %u, found none; run 'lwkctl reset'",
			       from);
	if (old->damaged_line)
		ret = ms_fail(err,
			      "expected a whole journal of warm job %u, found line %u damaged; "
			      "run 'lwkctl reset'",
			      from, old->damaged_line);
	for (size_t i = 0; ret == 0 && i < json_object_array_length(old->entries); i++) {
		struct json_object *entry = json_object_array_get_idx(old->entries, i);
		const char *step = journal_text(entry, "step");

		if (is_kept(step))
			ret = journal_record(switching->journal, step, json_object_get(entry), err);
	}
	journal_close(old);
	return ret;
}

/* Both journals name the same CPUs and memory for a while; undoing twice is harmless. */
static int adopt_journal(struct warm_run *run, struct ms_error *err)
{
	return copy_journal(run->switching, run->warm->job_id, err);
}

static int adopt_partition(struct warm_run *run, struct ms_error *err)
{
	struct switching *switching = run->switching;
	const struct warm *warm = run->warm;
	int error = switching->driver->destroy(switching->dev, warm->instance);

	if (error)
		return ms_fail(err, "LWK instance %d cannot be ended: %s", warm->instance,
			       strerror(-error));
	switching->memory = calloc(warm->n + 1, sizeof(*switching->memory));
	if (!switching->memory)
		return ms_fail(err, "out of memory");
	for (size_t i = 0; i < warm->n; i++) {
		if (!warm->lent[i].is_cpu)
			switching->memory[switching->n_memory++] = warm->lent[i];
	}
	return 0;
}

static int adopt_away_list(struct warm_run *run, struct ms_error *err)
{
	return away_list_hand_on(run->warm->job_id, run->switching->job_id, err);
}

static int adopt_forget_journal(struct warm_run *run, struct ms_error *err)
{
	return journal_remove(run->warm->job_id, err);
}

static int adopt_forget_record(struct warm_run *run, struct ms_error *err)
{
	return record_remove(run->warm->job_id, err);
}

const struct warm_part adopt_parts[] = {
	{ "adopt", "journal", adopt_journal },	    { "adopt", "partition", adopt_partition },
	{ "adopt", "away", adopt_away_list },	    { "adopt", "forget", adopt_forget_journal },
	{ "adopt", "record", adopt_forget_record }, { 0 },
};

int warm_adopt(struct switching *switching, const struct warm *warm, struct ms_error *err)
{
	struct warm_run run = { .switching = switching, .warm = warm };

	/* Another image may not have cleared the memory of what was there before. */
	switching->memory_is_own = warm->memory_is_own && warm->uid == switching->uid &&
				   strcmp(warm->image, switching->plan->image.name) == 0;
	return warm_run_parts(adopt_parts, &run, err);
}
