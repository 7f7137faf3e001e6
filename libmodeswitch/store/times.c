// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/times.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "store/journal.h"

void times_begin(struct ms_times *times)
{
	memset(times, 0, sizeof(*times));
	times->began_us = clock_us();
}

void times_lap(struct ms_times *times, const char *name)
{
	struct ms_part *last;
	uint64_t now, lap;

	if (!times)
		return;
	now = clock_us() - times->began_us;
	lap = now - times->total_us;
	times->total_us = now;
	last = times->n ? &times->parts[times->n - 1] : NULL;
	if (last && (strcmp(last->name, name) == 0 || times->n == MS_MAX_PARTS)) {
		last->us += lap;
		return;
	}
	last = &times->parts[times->n++];
	snprintf(last->name, sizeof(last->name), "%s", name);
	last->us = lap;
}

struct json_object *times_to_json(const struct ms_times *times)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < times->n; i++) {
		struct json_object *part = json_object_new_object();

		json_object_object_add(part, "name", json_object_new_string(times->parts[i].name));
		json_object_object_add(part, "us", json_object_new_int64(times->parts[i].us));
		json_object_array_add(array, part);
	}
	return array;
}

void times_from_json(struct json_object *array, struct ms_times *times)
{
	memset(times, 0, sizeof(*times));
	if (!json_object_is_type(array, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(array) && times->n < MS_MAX_PARTS; i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		struct ms_part *part = &times->parts[times->n++];

		snprintf(part->name, sizeof(part->name), "%s", journal_text(object, "name"));
		part->us = journal_number(object, "us");
		times->total_us += part->us;
	}
}

void ms_times_print(const struct ms_times *times, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	for (size_t i = 0; i < times->n && at < size; i++)
		at += snprintf(text + at, size - at, "%s%s %.1f", i ? ", " : "",
			       times->parts[i].name, times->parts[i].us / 1000.0);
}
