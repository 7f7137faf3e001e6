/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of a switch took, as struct ms_times has it.
 */
#ifndef TIMES_H
#define TIMES_H

#include "modeswitch/job.h"

struct json_object;

/* The switch begins now. */
void times_begin(struct ms_times *times);
/*
 * A part that began where the one before ended, or the switch, is over. Several in a row with
 * one name are one part. What finds no place is counted to the last part that did. NULL: nobody
 * wants to know.
 */
void times_lap(struct ms_times *times, const char *name);

/* An array, as lwkctl(8) documents it; json_object_put(). */
struct json_object *times_to_json(const struct ms_times *times);
/* Reads it back; what is no such array gives no times. */
void times_from_json(struct json_object *array, struct ms_times *times);

#endif
