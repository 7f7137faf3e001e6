// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl check: what would break LWK jobs on this node. */
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"

enum { OPTION_REPAIR = OPTION_OWN };

static bool repair;

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key != OPTION_REPAIR)
		return ARGP_ERR_UNKNOWN;
	repair = true;
	return 0;
}

static const char *const level_words[] = {
	[MS_FINE] = "fine", [MS_NOTE] = "note", [MS_PROBLEM] = "problem"
};

static void print_finding(const struct ms_finding *finding, void *context)
{
	printf("%-8s%-10s %s\n", level_words[finding->level], finding->subject, finding->text);
	if (finding->to_do)
		printf("%18s -> %s\n", "", finding->to_do);
}

static void collect_finding(const struct ms_finding *finding, void *context)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "level", level_words[finding->level]);
	json_add_text(object, "subject", finding->subject);
	json_add_text(object, "text", finding->text);
	json_add_text(object, "to_do", finding->to_do ? finding->to_do : "");
	json_add_text(object, "lines", finding->lines ? finding->lines : "");
	json_add_text(object, "file", finding->file ? finding->file : "");
	json_object_array_add(context, object);
}

/* With --json standard output has nothing but the findings. */
static void print_repair(const char *line, void *context)
{
	const struct options *options = context;

	fprintf(options->json ? stderr : stdout, "repaired: %s\n", line);
}

static void repair_all(const struct options *options)
{
	struct ms_error err;

	if (ms_repair_over(print_repair, (void *)options, &err) < 0)
		fail(&err);
	if (ms_repair(print_repair, (void *)options, &err) < 0)
		fail(&err);
}

static int run(const struct options *options)
{
	struct json_object *findings;
	int problems;

	if (repair && geteuid() != 0)
		return usage_error("--repair by root only", "another user");
	if (repair)
		repair_all(options);
	findings = json_object_new_array();
	problems = ms_check(options->config, options->json ? collect_finding : print_finding,
			    findings);
	if (options->json)
		print_json(findings);
	else
		json_object_put(findings);
	if (!options->json)
		printf("%d problem%s\n", problems, problems == 1 ? "" : "s");
	return problems ? EXIT_FAILED : EXIT_OK;
}

const struct verb verb_check = {
	.name = "check",
	.summary = "Look for what would break LWK jobs on this node",
	.help = "Looks for what would break LWK jobs on this node, and says for each problem what to do.",
	.options = (const struct argp_option[]){ FLAG("repair", OPTION_REPAIR,
						      "First repair what crashes have left (root)"),
						 CONFIG_OPTION,
						 JSON_OPTION,
						 { 0 } },
	.parse = parse,
	.run = run,
};
