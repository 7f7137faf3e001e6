/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lwkctl's verbs share. */
#ifndef LWKCTL_H
#define LWKCTL_H

#include <json-c/json.h>

#include "modeswitch.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

/* The command line; NULL is what was not given. */
struct options {
	const char *config;
	const char *cpus;
	const char *memory;
	const char *lwk_memory;
	const char *numa;
	const char *hint;
	const char *topology;
	const char *image;
	const char *svg;
	bool json;
	bool wait;
	bool undo;
	bool dry_run;
	char **arguments;
	int n_arguments;
};

/* Each tells the user and returns lwkctl's exit status. */
int fail(const struct ms_error *err);
int usage_error(const char *what, const char *found);
int print_json(struct json_object *object); /* and puts it */

int run_plan(const struct options *options);
int run_prepare(const struct options *options);

#endif
