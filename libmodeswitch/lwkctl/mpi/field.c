// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/field.h"

#include <stdio.h>

#include "modeswitch/error.h"

struct json_object *field_of(struct json_object *object, const char *name)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(object, name, &found);
	return found;
}

size_t field_length(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

struct json_object *field_item(struct json_object *array, size_t i)
{
	return i < field_length(array) ? json_object_array_get_idx(array, i) : NULL;
}

uint64_t field_count(struct json_object *number)
{
	int64_t value = json_object_get_int64(number);

	return value > 0 && value < INT64_MAX / 65536 ? value : 0;
}

double field_span(struct json_object *number)
{
	double value = json_object_get_double(number);

	return value > 0 && value < 1e12 ? value : 0;
}

void field_copy(char *text, size_t size, struct json_object *string)
{
	const char *from = json_object_get_string(string);

	snprintf(text, size, "%s", from ? from : "");
	ms_make_printable(text);
}
