/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds members to JSON objects. */
#ifndef JSON_H
#define JSON_H

#include <hwloc.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

void json_add_text(struct json_object *object, const char *key, const char *text);
void json_add_number(struct json_object *object, const char *key, int64_t number);
void json_add_double(struct json_object *object, const char *key, double number);
void json_add_flag(struct json_object *object, const char *key, bool flag);
/* Adds the list as text, "0-3,8"; NULL gives "". */
void json_add_list(struct json_object *object, const char *key, hwloc_const_bitmap_t list);

#endif
