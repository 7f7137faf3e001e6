// SPDX-License-Identifier: GPL-2.0-or-later
/* The file that remembers the interrupts moved for quiet jobs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "interrupts/quiet/pass.h"
#include "modeswitch/config.h"
#include "store/journal.h"
#include "store/state.h"

#define STATE_FILE "quiet.json"

int quiet_read_state(struct json_object **state, struct ms_error *err)
{
	return state_read(STATE_FILE, "the interrupts that were moved for quiet jobs",
			  "remove the file: those interrupts stay where they are then", state, err);
}

struct json_object *quiet_entries(struct quiet_pass *pass)
{
	struct json_object *array;

	if (json_object_object_get_ex(pass->state, "interrupts", &array) &&
	    json_object_is_type(array, json_type_array))
		return array;
	array = json_object_new_array();
	json_object_object_add(pass->state, "interrupts", array);
	return array;
}

struct json_object *quiet_find_entry(struct quiet_pass *pass, const char *irq)
{
	struct json_object *all = quiet_entries(pass);

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *entry = json_object_array_get_idx(all, i);

		if (strcmp(journal_text(entry, "irq"), irq) == 0)
			return entry;
	}
	return NULL;
}

void quiet_drop_entry(struct quiet_pass *pass, struct json_object *entry)
{
	struct json_object *all = quiet_entries(pass);

	for (size_t i = json_object_array_length(all); i-- > 0;) {
		if (json_object_array_get_idx(all, i) == entry)
			json_object_array_del_idx(all, i, 1);
	}
	pass->changed = true;
}

static bool nothing_is_left(struct quiet_pass *pass)
{
	return !pass->n_jobs && json_object_array_length(quiet_entries(pass)) == 0 &&
	       !*journal_text(pass->state, "added_cpus") &&
	       !*journal_text(pass->state, "added_irqs");
}

int quiet_write_state(struct quiet_pass *pass, struct ms_error *err)
{
	char path[PATH_MAX];

	if (!nothing_is_left(pass))
		return state_keep(
			STATE_FILE,
			json_object_to_json_string_ext(pass->state, JSON_C_TO_STRING_PLAIN), err);
	snprintf(path, sizeof(path), "%s/" STATE_FILE, state_dir);
	return unlink(path) == 0 || errno == ENOENT ? 0 : ms_fail(err, "%s: %m", path);
}

void quiet_read_set(struct json_object *object, const char *key, hwloc_bitmap_t set)
{
	struct ms_error ignored;

	if (ms_parse_cpus(journal_text(object, key), set, &ignored) < 0)
		hwloc_bitmap_zero(set);
}

bool quiet_is_refused(struct json_object *entry)
{
	return json_object_object_get_ex(entry, "refused", NULL);
}
