// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"

#include <stdlib.h>

void json_add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

void json_add_number(struct json_object *object, const char *key, int64_t number)
{
	json_object_object_add(object, key, json_object_new_int64(number));
}

void json_add_double(struct json_object *object, const char *key, double number)
{
	json_object_object_add(object, key, json_object_new_double(number));
}

void json_add_flag(struct json_object *object, const char *key, bool flag)
{
	json_object_object_add(object, key, json_object_new_boolean(flag));
}

void json_add_list(struct json_object *object, const char *key, hwloc_const_bitmap_t list)
{
	char *text = NULL;

	if (list)
		hwloc_bitmap_list_asprintf(&text, list);
	json_add_text(object, key, text ? text : "");
	free(text);
}
