/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verbs of lwkctl. The file of a verb defines its struct verb, and verbs.c has the table of all
 * verbs, from which the command line, --help and the test of the completion take names and options.
 */
#ifndef LWKCTL_VERB_H
#define LWKCTL_VERB_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "modeswitch/config.h"

/*
 * The exit status of lwkctl. When a signal stops lwkctl migrate, it is 128 and the signal's number.
 */
enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

/* Keys of the options that several verbs take. A verb numbers its own from OPTION_OWN. */
enum { OPTION_CONFIG = 0x100, OPTION_JSON, OPTION_INTERVAL, OPTION_COUNT, OPTION_OWN };

/* One row of struct verb's options; 'help' is a line of lwkctl VERB --help. */
#define OPTION(name, key, value, help) { name, key, value, 0, help, 0 }
#define FLAG(name, key, help) OPTION(name, key, NULL, help)
#define CONFIG_OPTION                                                                              \
	OPTION("config", OPTION_CONFIG, "FILE", "Read FILE instead of " MS_CONFIG_PATH)
#define JSON_OPTION FLAG("json", OPTION_JSON, "Print JSON; lwkctl(8) explains the names")
#define INTERVAL_OPTION(help) OPTION("interval", OPTION_INTERVAL, "SECONDS", help)
#define COUNT_OPTION(help) OPTION("count", OPTION_COUNT, "N", help)

/* The command line of a verb, without the verb's own options. A text that was not given is NULL. */
struct options {
	const char *config; /* MS_CONFIG_PATH when it was not given */
	const char *interval;
	const char *count;
	bool json;
	char **arguments;
	int n_arguments;
};

struct verb {
	const char *name;
	const char *summary;   /* for lwkctl --help */
	const char *help;      /* for lwkctl VERB --help; NULL: the summary is enough */
	const char *arguments; /* for the usage line, as struct argp has it; NULL: none */
	int most_arguments;
	bool for_root;
	const struct argp_option *options; /* ends with a row of zeros; NULL: none */
	argp_parser_t parse; /* reads the verb's own options; NULL: it has none. May exit. */
	int (*run)(const struct options *options); /* returns the exit status */
};

extern const struct verb verb_bench, verb_check, verb_cool, verb_counters, verb_dump, verb_events,
	verb_freeze, verb_guard, verb_info, verb_irqs, verb_kmsg, verb_list, verb_metrics,
	verb_migrate, verb_mpi, verb_node, verb_plan, verb_prepare, verb_quiet, verb_rehome,
	verb_reset, verb_setup, verb_stat, verb_status, verb_thaw, verb_top;

/* All of them, in the order of lwkctl --help. */
extern const struct verb *const verbs[];
extern const size_t n_verbs;

#endif
