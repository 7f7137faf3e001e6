/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lwkctl's verbs share. */
#ifndef LWKCTL_H
#define LWKCTL_H

#include <stdbool.h>
#include <stdint.h>
#include <json-c/json.h>

#include "modeswitch/error.h"

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
	const char *interval;
	const char *count;
	bool json;
	bool wait;
	bool undo;
	bool dry_run;
	bool follow;
	bool watch;
	char **arguments;
	int n_arguments;
};

/* Each tells the user and returns lwkctl's exit status. */
int fail(const struct ms_error *err);
int usage_error(const char *what, const char *found);
int print_json(struct json_object *object); /* and puts it */

/* What a verb returns whose help is asked for, if it reads its options itself. */
#define SHOW_HELP (-1)

int run_plan(const struct options *options);
int run_prepare(const struct options *options);

/* A number that is nothing else. */
bool parse_id(const char *text, uint32_t *id);
/* The job that the first argument names; false after a message. */
bool job_argument(const struct options *options, uint32_t *job_id);

/* --interval, seconds; leaves *interval alone when it is not given. False after a message. */
bool interval_argument(const struct options *options, double *interval);

/* lwkctl_watch.c */
int run_list(const struct options *options);
int run_info(const struct options *options);
int run_stat(const struct options *options);
int run_kmsg(const struct options *options);
int run_events(const struct options *options);
int run_freeze(const struct options *options);
int run_thaw(const struct options *options);

/* lwkctl_watch.c; root */
int run_dump(const struct options *options);

/* lwkctl_counters.c */
int run_counters(const struct options *options);

/* lwkctl_node.c */
int run_node(const struct options *options);

/* lwkctl_top.c */
int run_top(const struct options *options);

/* lwkctl_irqs.c */
int run_irqs(const struct options *options);

/* lwkctl_quiet.c; root */
int run_quiet(const struct options *options);

/* lwkctl_metrics.c */
int run_metrics(const struct options *options);
int run_migrate(const struct options *options);

#endif
