/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small things that several verbs of lwkctl need: messages, arguments, formats. */
#ifndef LWKCTL_COMMON_H
#define LWKCTL_COMMON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lwkctl/verb.h"
#include "modeswitch/error.h"

/* Whole megabytes (2^20 bytes), for "%ju". */
#define MB(bytes) ((uintmax_t)((bytes) >> 20))

/* The verb whose command line is read; NULL: not known yet. */
extern const struct verb *running_verb;

/* Both print a message on standard error and return the exit status that goes with it. */
int fail(const struct ms_error *err);
int usage_error(const char *wanted, const char *found);

/* Prints the object on standard output, drops the caller's reference to it and returns EXIT_OK. */
int print_json(struct json_object *object);

/* Prints the line; 'context' is a bool, which becomes true. A ms_say(). */
void print_line(const char *line, void *context);

/*
 * Reads a decimal number of 32 bits and nothing beside it; false when the text is no such number.
 */
bool parse_id(const char *text, uint32_t *id);

/* Reads the job that the first argument names; false after a message. */
bool job_argument(const struct options *options, uint32_t *job_id);

/*
 * Reads --interval, in seconds; leaves *interval alone when it was not given. False after a
 * message.
 */
bool interval_argument(const struct options *options, double *interval);

/* Writes the user's name, or the number of a user without a name. */
void format_user(uid_t uid, char *text, size_t size);

/* Writes local date and time; 'ns' is nanoseconds since 1970. */
void format_time(int64_t ns, char *text, size_t size);

#endif
