// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/engine.h"

#include <string.h>

#include "base/child.h"
#include "store/times.h"
#include "switch/fault.h"

static int run_all(const struct step *const *steps, struct switching *switching,
		   struct ms_error *err)
{
	for (; *steps; steps++) {
		const struct step *step = *steps;
		struct json_object *details = NULL;

		if (switching_may_go_on(switching, err) < 0)
			return -1;
		if (step->undo) {
			if (step->details && !(details = step->details(switching)))
				return ms_fail(err, "out of memory");
			if (journal_record(switching->journal, step->name, details, err) < 0)
				return -1;
		}
		if (fault_at("on", step->name, "before", err) < 0 ||
		    step->run(switching, err) < 0 || fault_at("on", step->name, "after", err) < 0)
			return -1;
		times_lap(switching->times, step->name);
	}
	return 0;
}

int steps_run(const struct step *const *steps, struct switching *switching, struct ms_error *err)
{
	int ret = run_all(steps, switching, err);

	child_end_calls();
	return ret;
}

static const struct step *find_step(const struct step *const *steps, struct json_object *entry)
{
	const char *name = journal_text(entry, "step");

	while (*steps && strcmp((*steps)->name, name) != 0)
		steps++;
	return *steps;
}

/* A journal of version 0.1.0 may have this step. lwkpart.ko does its work now. */
static bool is_retired(struct json_object *entry)
{
	return strcmp(journal_text(entry, "step"), "cpusets") == 0;
}

static int undo_entry(const struct step *const *steps, struct switching *switching,
		      struct json_object *entry, struct ms_error *err)
{
	const struct step *step = find_step(steps, entry);

	if (is_retired(entry))
		return 0;
	if (!step || !step->undo)
		return ms_fail(err,
			       "the journal names an unknown step \"%s\"; the administrator's "
			       "remedy is 'lwkctl reset --force'",
			       journal_text(entry, "step"));
	if (fault_at("off", step->name, "before", err) < 0 || step->undo(switching, entry, err) < 0)
		return -1;
	return fault_at("off", step->name, "after", err);
}

int steps_undo(const struct step *const *steps, struct switching *switching, struct ms_error *err)
{
	struct json_object *entries = switching->journal->entries;
	struct ms_error why;
	int ret = 0;

	for (size_t i = json_object_array_length(entries); i-- > 0;) {
		struct json_object *entry = json_object_array_get_idx(entries, i);

		if (undo_entry(steps, switching, entry, &why) < 0 && ret == 0)
			ret = ms_fail(err, "%s", why.text);
		times_lap(switching->times, journal_text(entry, "step"));
	}
	for (size_t i = 0; ret == 0 && i < json_object_array_length(entries); i++) {
		struct json_object *entry = json_object_array_get_idx(entries, i);
		const struct step *step = find_step(steps, entry);

		if (step && step->check)
			ret = step->check(switching, entry, err);
	}
	return ret;
}
