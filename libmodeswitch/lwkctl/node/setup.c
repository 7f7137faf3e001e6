// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwkctl setup: the lines that this node's configuration lacks for LWK jobs, as lwkctl check finds
 * them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lwkctl/common.h"
#include "modeswitch/node.h"

enum { OPTION_PRINT = OPTION_OWN };

struct missing {
	size_t n;
	struct {
		char *file, *lines;
	} at[64];
	unsigned n_slurm; /* findings about Slurm's settings */
};

static bool print;

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key != OPTION_PRINT)
		return ARGP_ERR_UNKNOWN;
	print = true;
	return 0;
}

static void collect(const struct ms_finding *finding, void *context)
{
	struct missing *missing = context;

	missing->n_slurm += strcmp(finding->subject, "slurm") == 0;
	if (!finding->lines || missing->n == sizeof(missing->at) / sizeof(*missing->at))
		return;
	/* Two words that one setting lacks. */
	for (size_t i = 0; i < missing->n; i++)
		if (strcmp(missing->at[i].lines, finding->lines) == 0)
			return;
	missing->at[missing->n].file = strdup(finding->file);
	missing->at[missing->n].lines = strdup(finding->lines);
	missing->n++;
}

static bool is_named(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');

	return strcmp(slash ? slash + 1 : file, name) == 0;
}

static void print_file(const struct missing *missing, const char *file)
{
	printf("# %s\n", file);
	for (size_t i = 0; i < missing->n; i++)
		if (strcmp(missing->at[i].file, file) == 0)
			puts(missing->at[i].lines);
	putchar('\n');
}

static bool is_first_of_file(const struct missing *missing, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(missing->at[i].file, missing->at[at].file) == 0)
			return false;
	return true;
}

static int run(const struct options *options)
{
	struct missing missing = { 0 };
	bool slurm_is_silent;

	if (!print)
		return usage_error("--print", "nothing");
	ms_check(options->config, collect, &missing);
	/* When Slurm does not answer, there is one finding about Slurm, which says so. */
	slurm_is_silent = missing.n_slurm <= 1;
	if (slurm_is_silent)
		fprintf(stderr,
			"lwkctl setup: expected an answer of 'scontrol show config', found none; "
			"start slurmctld and try again for Slurm's lines\n");
	for (size_t i = 0; i < missing.n; i++) {
		if (options->n_arguments) {
			if (is_named(missing.at[i].file, options->arguments[0]))
				puts(missing.at[i].lines);
		} else if (is_first_of_file(&missing, i)) {
			print_file(&missing, missing.at[i].file);
		}
	}
	for (size_t i = 0; i < missing.n; i++) {
		free(missing.at[i].file);
		free(missing.at[i].lines);
	}
	return slurm_is_silent ? EXIT_FAILED : EXIT_OK;
}

const struct verb verb_setup = {
	.name = "setup",
	.summary = "Print the lines that this node's configuration lacks for LWK jobs",
	.help = "Prints the lines that are missing in lwk.conf, plugstack.conf, slurm.conf and "
		"cgroup.conf, and with FILE, which is one of these names, only that file's.",
	.arguments = "[FILE]",
	.most_arguments = 1,
	.options = (const struct argp_option[]){ CONFIG_OPTION,
						 FLAG("print", OPTION_PRINT,
						      "Print them, and change nothing"),
						 { 0 } },
	.parse = parse,
	.run = run,
};
