// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl(8): finds the verb, reads the command line for it and runs it. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lwkctl/common.h"
#include "lwkctl/verb.h"

#define OPTION_HELP 'h'

static error_t read_help(int key, char *text, struct argp_state *state)
{
	if (key != OPTION_HELP)
		return ARGP_ERR_UNKNOWN;
	argp_help(state->root_argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG,
		  state->name);
	exit(EXIT_OK);
}

/* Each verb has --help. The one of argp would print nothing, because ARGP_SILENT turns it off. */
static const struct argp_option help_options[] = {
	{ "help", OPTION_HELP, NULL, 0, "Show this help", -1 }, { 0 }
};
static const struct argp help_argp = { .options = help_options, .parser = read_help };
static const struct argp_child children[] = { { &help_argp, 0, NULL, 0 }, { 0 } };

/*
 * 'found' is an unknown option, or a known one without its value or with one that it does not take.
 */
static void __attribute__((noreturn)) refuse_option(const char *found)
{
	const struct argp_option *option = running_verb->options;
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "an option of %s", running_verb->name);
	for (; option && option->name; option++) {
		size_t length = strlen(option->name);

		if (strncmp(found, "--", 2) == 0 && strcspn(found + 2, "=") == length &&
		    strncmp(found + 2, option->name, length) == 0)
			snprintf(wanted, sizeof(wanted), "--%s%s%s", option->name,
				 option->arg ? " " : "", option->arg ? option->arg : "");
	}
	exit(usage_error(wanted, found));
}

static error_t read_word(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_CONFIG:
		options->config = text;
		return 0;
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_INTERVAL:
		options->interval = text;
		return 0;
	case OPTION_COUNT:
		options->count = text;
		return 0;
	case ARGP_KEY_ARGS:
		options->arguments = state->argv + state->next;
		options->n_arguments = state->argc - state->next;
		return 0;
	case ARGP_KEY_ERROR:
		refuse_option(state->argv[state->next - 1]);
	}
	return running_verb->parse ? running_verb->parse(key, text, state) : ARGP_ERR_UNKNOWN;
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
	const struct argp argp = {
		.options = verb->options,
		.parser = read_word,
		.args_doc = verb->arguments,
		.doc = verb->help ? verb->help : verb->summary,
		.children = children,
	};
	struct options options = { .config = MS_CONFIG_PATH };
	char name[32];

	running_verb = verb;
	/* argp prints this name in the usage line. */
	snprintf(name, sizeof(name), "lwkctl %s", verb->name);
	argv[0] = name;
	if (argp_parse(&argp, argc, argv, ARGP_SILENT, NULL, &options) != 0)
		return EXIT_FAILED;
	if (options.n_arguments > verb->most_arguments)
		return usage_error(verb->most_arguments ? "no more arguments" : "options only",
				   options.arguments[verb->most_arguments]);
	if (verb->for_root && geteuid() != 0) {
		fprintf(stderr, "lwkctl: %s: expected to run as root, found user %u; use sudo\n",
			verb->name, geteuid());
		return EXIT_FAILED;
	}
	return verb->run(&options);
}

static int print_help(void)
{
	puts("Usage: lwkctl VERB [OPTION...]\nLook after the light-weight kernels (LWKs) of a node.\n");
	for (size_t i = 0; i < n_verbs; i++)
		printf("  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
	puts("\n'lwkctl VERB --help' explains a verb, lwkctl(8) all of them; 'lwkctl --version' prints the\n"
	     "version. Exit status: 0 done and all well, 1 failed or problems found, 2 wrong command line.");
	return EXIT_OK;
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < n_verbs; i++) {
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct verb *verb;

	setlocale(LC_CTYPE, "");
	if (argc < 2)
		return usage_error("a verb", "nothing");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0) {
		puts("lwkctl (slurm-lwk) " PACKAGE_VERSION);
		return EXIT_OK;
	}
	verb = find_verb(argv[1]);
	return verb ? run_verb(verb, argc - 1, argv + 1) : usage_error("a verb", argv[1]);
}
