/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long the parts of a switch take.
 */
#ifndef TIMES_H
#define TIMES_H

#include "modeswitch/job.h"

struct json_object;

/* Notes that the switch begins now. */
void times_begin(struct ms_times *times);
/*
 * Notes that a part ends now. It began when the part before it ended, or with the switch. Parts in
 * a row with the same name count as one. When the table is full, the last part gets the time. Notes
 * nothing if 'times' is NULL.
 */
void times_lap(struct ms_times *times, const char *name);

/* Returns the array that lwkctl(8) documents, to be freed with json_object_put(). */
struct json_object *times_to_json(const struct ms_times *times);
/* Reads such an array back; anything else gives no parts. */
void times_from_json(struct json_object *array, struct ms_times *times);

#endif
