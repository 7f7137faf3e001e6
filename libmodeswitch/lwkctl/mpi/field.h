/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of JSON that anybody may have written: what is not there, or of another type, is as good as nothing. */
#ifndef LWKCTL_MPI_FIELD_H
#define LWKCTL_MPI_FIELD_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the member of that name, or NULL; the object keeps it. */
struct json_object *field_of(struct json_object *object, const char *name);
/* The number of items of an array. */
size_t field_length(struct json_object *array);
/* Returns an item, or NULL; the array keeps it. */
struct json_object *field_item(struct json_object *array, size_t i);
/* A count; 0 in place of what cannot be one. */
uint64_t field_count(struct json_object *number);
/* A time in seconds; 0 in place of what cannot be one. */
double field_span(struct json_object *number);
/* Copies as much of a text as has room in 'size' bytes; all of it is printable. */
void field_copy(char *text, size_t size, struct json_object *string);

#endif
