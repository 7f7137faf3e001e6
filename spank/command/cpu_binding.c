// SPDX-License-Identifier: GPL-2.0-or-later
#include "command/cpu_binding.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "command/command_option.h"

#define SLURMS_VARIABLE "SLURM_CPU_BIND"
/* srun sets it for the nodes; --export leaves out no variable with this beginning. */
#define VARIABLE "SLURM_LWK_CPU_BIND"

void cpu_binding_default(void)
{
	setenv(SLURMS_VARIABLE, "none", 0);
}

/* ---- what a binding asks for ---- */

/* The words of --cpu-bind, and into which parts of the LWK each divides it. */
static const struct {
	const char *word, *parts;
} words[] = {
	{ "q", NULL },
	{ "quiet", NULL },
	{ "v", NULL },
	{ "verbose", NULL },
	{ "no", NULL },
	{ "none", NULL },
	{ "thread", "threads" },
	{ "threads", "threads" },
	{ "core", "cores" },
	{ "cores", "cores" },
	{ "rank", "cores" },
	{ "socket", "sockets" },
	{ "sockets", "sockets" },
	{ "ldom", "ldoms" },
	{ "ldoms", "ldoms" },
	{ "rank_ldom", "ldoms" },
};

struct binding {
	const char *parts; /* NULL: no binding */
	bool none, verbose;
	bool unknown; /* it has lists of CPUs, or words of a newer Slurm */
};

static void add_word(struct binding *binding, const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strncasecmp(word, words[i].word, length) || words[i].word[length])
			continue;
		if (words[i].parts)
			binding->parts = words[i].parts;
		else if (tolower((unsigned char)*word) == 'n')
			binding->none = true;
		else
			binding->verbose = tolower((unsigned char)*word) == 'v';
		return;
	}
	binding->unknown = true;
}

static struct binding parse(const char *text)
{
	struct binding binding = { 0 };

	for (size_t length; *text; text += length + (text[length] == ',')) {
		length = strcspn(text, ",");
		add_word(&binding, text, length);
	}
	return binding;
}

/* ---- srun's command line ---- */

/* Returns the words of the command line, and NULL; NULL without memory. */
static char **read_command_line(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char **argv = NULL, *word = NULL;
	size_t n = 0, size = 0;
	bool more = file;

	while (more) {
		char **longer = reallocarray(argv, n + 1, sizeof(*argv));

		if (!longer)
			break;
		argv = longer;
		more = getdelim(&word, &size, '\0', file) > 0;
		argv[n] = more ? strdup(word) : NULL;
		if (more && !argv[n++])
			break;
	}
	free(word);
	if (file)
		fclose(file);
	return more ? NULL : argv;
}

/*
 * Returns the value in a word like "--cpu-bind=VALUE", or "" when the next word is the value. NULL:
 * the word is something else. The option may be shortened, and is old with an underscore.
 */
static const char *value_in(const char *word)
{
	size_t length = strcspn(word, "=");

	if (length < strlen("--cpu-b") ||
	    (strncmp(word, "--cpu-bind", length) && strncmp(word, "--cpu_bind", length)))
		return NULL;
	return word[length] ? word + length + 1 : "";
}

/* Returns the binding among the first n words, the last if there are several; NULL: none. */
static const char *find_binding(char **argv, int n)
{
	const char *found = NULL, *value;

	for (int i = 1; i < n; i++) {
		value = value_in(argv[i]);
		if (value)
			found = *value || i + 1 == n ? value : argv[++i];
	}
	return found;
}

/* 'option' is a word like "--cpu-bind=VALUE". */
static void replace_bindings(char **argv, int n, char *option)
{
	const char *value;

	for (int i = 1; i < n; i++) {
		value = value_in(argv[i]);
		if (value && *value)
			argv[i] = option;
		else if (value && i + 1 < n)
			argv[++i] = strchr(option, '=') + 1;
	}
}

/* The words of the components of a heterogeneous job or step are apart. */
static bool is_heterogeneous(char **argv)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, ":"))
			return true;
	return false;
}

/* ---- deciding ---- */

/*
 * srun has read its options into what only its own release knows, so it reads them again, with
 * other ones. Returns only with an error.
 */
static void start_again(char **argv, int n, const struct binding *binding)
{
	static char none[] = "--cpu-bind=none", verbose_none[] = "--cpu-bind=verbose,none";
	char *option = binding->verbose && !binding->parts ? verbose_none : none;
	char share[32];

	snprintf(share, sizeof(share), "%s%s", binding->parts ? binding->parts : "",
		 binding->verbose ? " verbose" : "");
	replace_bindings(argv, n, option);
	if (setenv(SLURMS_VARIABLE, strchr(option, '=') + 1, 1) == 0 &&
	    (binding->parts ? setenv(VARIABLE, share, 1) : unsetenv(VARIABLE)) == 0)
		execv("/proc/self/exe", argv);
}

static int refuse(const char *text, bool apart)
{
	slurm_error(
		"lwk: --cpu-bind=%s (or " SLURMS_VARIABLE
		") would bind tasks to CPUs that Linux has lent to the job's LWK; give %s",
		text,
		apart ? "--cpu-bind=none: in a heterogeneous job or step, or by a cli_filter plugin, "
			"there is no other"
		      : "--cpu-bind=cores, threads, sockets or ldoms, which divide the LWK's CPUs "
			"among the ranks, or --cpu-bind=none");
	return -1;
}

int cpu_binding_check(void)
{
	/* Slurm's text lacks some words, and has what a cli_filter plugin has chosen. */
	const char *slurms = command_option("cpu-bind"), *text = NULL;
	char **argv = read_command_line();
	struct binding binding;
	bool apart;

	if (!argv) {
		slurm_error("lwk: expected srun's command line in /proc, found none");
		return -1;
	}
	apart = is_heterogeneous(argv);
	if (!apart)
		text = find_binding(argv, optind);
	if (!text)
		text = getenv(SLURMS_VARIABLE);
	binding = parse(text ? text : "");
	if (binding.none && slurms && !parse(slurms).none) {
		text = slurms;
		apart = true;
	} else if (binding.none) {
		return 0;
	}
	if (apart || binding.unknown)
		return refuse(text, apart);
	start_again(argv, optind, &binding);
	slurm_error("lwk: --cpu-bind=%s: srun cannot start again without it: %s", text,
		    strerror(errno));
	return -1;
}

int cpu_binding_share(void)
{
	const char *exact = command_option("exact");

	if (!exact || strcmp(exact, "set"))
		return 0;
	if (command_option_replace("exact", "overlap") == 0 && setenv("LWK_WAIT", "1", 1) == 0)
		return 0;
	slurm_error(
		"lwk: --exact (or --exclusive, or --cpus-per-task) would bind this step to CPUs "
		"that Linux has lent to the job's LWK, and this srun does not let the plugin "
		"change that; leave it out, and give --overlap: each program gets an LWK CPU of "
		"its own");
	return -1;
}

/* ---- on the node ---- */

int cpu_binding_hand_over(spank_t sp)
{
	char share[32], text[64];
	uint32_t tasks;
	int task;
	bool asked = spank_getenv(sp, VARIABLE, share, sizeof(share)) == ESPANK_SUCCESS;

	/* A step that a task of this one starts has a binding of its own, or none. */
	spank_unsetenv(sp, VARIABLE);
	spank_unsetenv(sp, "LWK_SHARE");
	if (!asked)
		return 0;
	if (spank_get_item(sp, S_TASK_ID, &task) == ESPANK_SUCCESS &&
	    spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &tasks) == ESPANK_SUCCESS) {
		snprintf(text, sizeof(text), "%d/%u %s", task, tasks, share);
		if (spank_setenv(sp, "LWK_SHARE", text, 1) == ESPANK_SUCCESS)
			return 0;
	}
	slurm_error(
		"lwk: the task cannot be told its share of the LWK's CPUs; leave out --cpu-bind");
	return -1;
}
