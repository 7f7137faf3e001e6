// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl prepare: calls ms_prepare() and prints its report. */
#include <stdio.h>

#include "lwkctl/common.h"

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"

enum { OPTION_UNDO = OPTION_OWN, OPTION_DRY_RUN };

static bool undo, dry_run;

static error_t parse(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case OPTION_UNDO:
		undo = true;
		return 0;
	case OPTION_DRY_RUN:
		dry_run = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : "";
}

static intmax_t number_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_int64(value) : 0;
}

/* Calls 'print' for each item of the array with that key, if there is one. */
static void for_each(struct json_object *object, const char *key,
		     void (*print)(struct json_object *item))
{
	struct json_object *array;

	if (!json_object_object_get_ex(object, key, &array))
		return;
	for (size_t i = 0; i < json_object_array_length(array); i++)
		print(json_object_array_get_idx(array, i));
}

static void print_block(struct json_object *block)
{
	printf("  memory block %jd stays: %s\n", number_of(block, "block"), text_of(block, "why"));
}

static void print_node(struct json_object *node)
{
	printf("NUMA node %jd, for jobs: %jd of %jd memory blocks (%jd MB) are movable, %jd of "
	       "them now; off-line already %jd\n",
	       number_of(node, "node"), number_of(node, "movable"), number_of(node, "blocks"),
	       number_of(node, "block_bytes") >> 20, number_of(node, "changed"),
	       number_of(node, "offline"));
	for_each(node, "kept", print_block);
}

static void print_interrupt(struct json_object *interrupt)
{
	printf(" %s", text_of(interrupt, "irq"));
}

static void print_interrupts(struct json_object *interrupts)
{
	struct json_object *kept;

	printf("interrupts: %jd moved to CPUs %s\n", number_of(interrupts, "changed"),
	       text_of(interrupts, "cpus"));
	if (!json_object_object_get_ex(interrupts, "kept", &kept) ||
	    !json_object_array_length(kept))
		return;
	fputs("  where the kernel or a driver wants them stay:", stdout);
	for_each(interrupts, "kept", print_interrupt);
	puts("");
}

static void print_services(struct json_object *services)
{
	if (*text_of(services, "why"))
		printf("services: not kept apart: %s\n", text_of(services, "why"));
	else
		printf("services: kept on CPUs %s and NUMA nodes %s by %s\n",
		       text_of(services, "cpus"), text_of(services, "nodes"),
		       text_of(services, "how"));
}

static void print_report(struct json_object *report)
{
	struct json_object *part;

	if (dry_run)
		puts("nothing is changed (--dry-run); afterwards it would probably be like this:");
	if (*text_of(report, "note"))
		puts(text_of(report, "note"));
	for_each(report, "nodes", print_node);
	if (json_object_object_get_ex(report, "interrupts", &part))
		print_interrupts(part);
	if (json_object_object_get_ex(report, "services", &part))
		print_services(part);
}

/* Prints the report of --undo. */
static void print_undone(struct json_object *report)
{
	printf("memory blocks given back to the kernel's own use: %jd\n",
	       number_of(report, "changed"));
	for_each(report, "kept", print_block);
	if (*text_of(report, "note"))
		puts(text_of(report, "note"));
}

static int run(const struct options *options)
{
	enum ms_prepare_mode mode = undo      ? MS_PREPARE_UNDO
				    : dry_run ? MS_PREPARE_DRY_RUN
					      : MS_PREPARE;
	struct ms_config *config = NULL;
	struct json_object *report;
	struct ms_error err;
	int ret;

	if (undo && dry_run)
		return usage_error("--undo or --dry-run", "both");
	if (!undo && ms_config_load(options->config, &config, &err) < 0)
		return fail(&err);
	ret = ms_prepare(config, mode, &report, &err);
	ms_config_free(config);
	if (ret < 0)
		return fail(&err);
	if (options->json) {
		print_json(report);
		return ret ? EXIT_FAILED : EXIT_OK;
	}
	if (undo)
		print_undone(report);
	else
		print_report(report);
	json_object_put(report);
	return ret ? EXIT_FAILED : EXIT_OK;
}

const struct verb verb_prepare = {
	.name = "prepare",
	.summary = "Keep the NUMA nodes for jobs free of unmovable memory (root)",
	.help = "Keeps the memory of the NUMA nodes for jobs free of what cannot be moved, and keeps "
		"interrupts and services away from these nodes. It belongs early in boot: systemctl enable "
		"slurm-lwk-prepare.service. Root only.",
	.for_root = true,
	.options =
		(const struct argp_option[]){
			FLAG("undo", OPTION_UNDO, "Restore what was changed since the node booted"),
			FLAG("dry-run", OPTION_DRY_RUN,
			     "Change nothing; show what would be changed"),
			CONFIG_OPTION,
			JSON_OPTION,
			{ 0 } },
	.parse = parse,
	.run = run,
};
