// SPDX-License-Identifier: GPL-2.0-or-later
#include "node/prepare/preparing.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "modeswitch/error.h"
#include "store/state.h"

#define STATE_FILE "prepared.json"

struct json_object *add_array(struct json_object *object, const char *key)
{
	struct json_object *array = json_object_new_array();

	json_object_object_add(object, key, array);
	return array;
}

struct json_object *array_of(struct json_object *object, const char *key)
{
	struct json_object *array;

	if (json_object_object_get_ex(object, key, &array) &&
	    json_object_is_type(array, json_type_array))
		return array;
	return add_array(object, key);
}

int read_state(struct preparing *p)
{
	return state_read(STATE_FILE, "what 'lwkctl prepare' has changed",
			  "a reboot undoes all of it", &p->state, p->err);
}

int write_state(struct preparing *p)
{
	return state_keep(STATE_FILE,
			  json_object_to_json_string_ext(p->state, JSON_C_TO_STRING_PLAIN), p->err);
}

int remove_state(struct preparing *p)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" STATE_FILE, state_dir);
	if (unlink(path) < 0 && errno != ENOENT)
		return ms_fail(p->err, "%s: %m", path);
	return 0;
}
