// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of a migration as JSON, and words for its parts.
 */
#include <stdio.h>

#include "base/json.h"
#include "modeswitch/migrate.h"

static const char *const method_words[MS_MIGRATE_METHODS] = {
	[MS_PERIODICAL] = "periodical",
	[MS_SEVERE] = "severe",
	[MS_MILD] = "mild",
	[MS_ADAPTIVE] = "adaptive",
};

static const char *const left_words[MS_LEFT_REASONS] = {
	[MS_LEFT_PINNED] = "pinned",
	[MS_LEFT_SHARED] = "shared",
	[MS_LEFT_INACCESSIBLE] = "inaccessible",
	[MS_LEFT_HUGETLB] = "no free huge page",
	[MS_LEFT_FULL] = "node full",
	[MS_LEFT_SPECIAL] = "special mapping",
	[MS_LEFT_RETURNED] = "returned",
	[MS_LEFT_DENIED] = "permission denied",
	[MS_LEFT_NOT_TRIED] = "not tried",
};

static const char *const kind_words[MS_KINDS] = {
	[MS_KIND_HUGE] = "huge",     [MS_KIND_HUGETLB] = "hugetlb", [MS_KIND_FILE] = "file",
	[MS_KIND_SHARED] = "shared", [MS_KIND_KSM] = "ksm",	    [MS_KIND_MLOCKED] = "mlocked",
};

const char *ms_migrate_method_word(enum ms_migrate_method method)
{
	return method_words[method];
}

const char *ms_migrate_left_word(enum ms_migrate_left left)
{
	return left_words[left];
}

const char *ms_migrate_kind_word(enum ms_migrate_kind kind)
{
	return kind_words[kind];
}

static void add_seconds(struct json_object *object, const char *key, double seconds)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6f", seconds);
	json_object_object_add(object, key, json_object_new_double_s(seconds, text));
}

/* Members that are 0 are left out. */
static struct json_object *by_word(const uint64_t *bytes, const char *const *words, int n)
{
	struct json_object *object = json_object_new_object();

	for (int i = 0; i < n; i++) {
		if (bytes[i])
			json_add_number(object, words[i], bytes[i]);
	}
	return object;
}

struct json_object *ms_migrate_state_to_json(const struct ms_migrate_state *state)
{
	struct json_object *object = json_object_new_object();

	json_add_flag(object, "complete", state->complete);
	json_add_flag(object, "stopped", state->stopped);
	json_add_text(object, "source", state->source);
	json_add_number(object, "processes", state->processes);
	json_add_number(object, "rounds", state->rounds);
	json_add_number(object, "scans", state->scans);
	json_add_number(object, "found", state->found);
	json_add_number(object, "moved", state->moved);
	json_add_number(object, "gone", state->gone);
	json_object_object_add(object, "left", by_word(state->left, left_words, MS_LEFT_REASONS));
	json_object_object_add(object, "kinds", by_word(state->kinds, kind_words, MS_KINDS));
	json_add_number(object, "hot_found", state->hot_found);
	json_add_number(object, "hot_moved", state->hot_moved);
	add_seconds(object, "seconds", state->seconds);
	add_seconds(object, "cpu_seconds", state->cpu_seconds);
	add_seconds(object, "scan_cpu_seconds", state->scan_cpu_seconds);
	json_add_text(object, "notes", state->notes);
	return object;
}
