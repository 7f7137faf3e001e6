// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/common.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct verb *running_verb;

int fail(const struct ms_error *err)
{
	fprintf(stderr, "lwkctl: %s\n", err->text);
	return EXIT_FAILED;
}

int usage_error(const char *wanted, const char *found)
{
	fprintf(stderr, "lwkctl: expected %s, found \"%s\"; see lwkctl %s%s--help\n", wanted, found,
		running_verb ? running_verb->name : "", running_verb ? " " : "");
	return EXIT_USAGE;
}

int print_json(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
	return EXIT_OK;
}

void print_line(const char *line, void *context)
{
	puts(line);
	fflush(stdout);
	*(bool *)context = true;
}

bool parse_id(const char *text, uint32_t *id)
{
	char rest;

	/* sscanf() alone would accept a sign and blanks. */
	return *text >= '0' && *text <= '9' && strlen(text) < 11 &&
	       sscanf(text, "%" SCNu32 "%c", id, &rest) == 1;
}

bool job_argument(const struct options *options, uint32_t *job_id)
{
	const char *found = options->n_arguments ? options->arguments[0] : "nothing";

	if (options->n_arguments && parse_id(found, job_id))
		return true;
	usage_error("a job, a number", found);
	return false;
}

bool interval_argument(const struct options *options, double *interval)
{
	char *end;

	if (!options->interval)
		return true;
	*interval = strtod(options->interval, &end);
	if (end != options->interval && !*end && *interval >= 0.001 && *interval <= 86400)
		return true;
	usage_error("--interval SECONDS, from 0.001 to 86400", options->interval);
	return false;
}

void format_user(uid_t uid, char *text, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(text, size, "%s", user->pw_name);
	else
		snprintf(text, size, "%u", uid);
}

void format_time(int64_t ns, char *text, size_t size)
{
	time_t when = ns / 1000000000;
	struct tm tm;

	strftime(text, size, "%F %T", localtime_r(&when, &tm));
}
