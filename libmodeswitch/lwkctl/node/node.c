// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl node: prints what this node has lent and could lend, and whether it can run LWKs. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"

enum { OPTION_FEATURES = OPTION_OWN };

static bool features;

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key != OPTION_FEATURES)
		return ARGP_ERR_UNKNOWN;
	features = true;
	return 0;
}

static void print_problem(const struct ms_finding *finding, void *context)
{
	if (finding->level == MS_PROBLEM)
		fprintf(stderr, "lwkctl node: %s: %s; %s\n", finding->subject, finding->text,
			finding->to_do);
}

/* Prints what the node's line of slurm.conf, or slurmd --conf, has to say for jobs to find it. */
static int print_features(const char *config)
{
	if (ms_check(config, print_problem, NULL))
		return EXIT_FAILED;
	puts("Feature=lwk");
	return EXIT_OK;
}

static struct json_object *numa_to_json(const struct ms_numa_info *numa)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "node", numa->node);
	json_add_flag(object, "system", numa->system);
	json_add_list(object, "lent_cpus", numa->lent_cpus);
	json_add_list(object, "free_cpus", numa->free_cpus);
	json_add_number(object, "total", numa->total);
	json_add_number(object, "lent", numa->lent);
	json_add_number(object, "largest_lent", numa->largest_lent);
	json_add_number(object, "free_4k", numa->free_4k);
	json_add_number(object, "free_2m", numa->free_2m);
	json_add_number(object, "free_1g", numa->free_1g);
	json_add_number(object, "largest_free", numa->largest_free);
	return object;
}

static struct json_object *info_to_json(const struct ms_node_info *info)
{
	struct json_object *object = json_object_new_object();
	struct json_object *nodes = json_object_new_array();

	json_add_number(object, "instances", info->instances);
	json_add_list(object, "lent_cpus", info->lent_cpus);
	json_add_list(object, "free_cpus", info->free_cpus);
	json_add_number(object, "lent", info->lent);
	json_add_number(object, "spare", info->spare);
	for (size_t i = 0; i < info->n_numa; i++)
		json_object_array_add(nodes, numa_to_json(&info->numa[i]));
	json_object_object_add(object, "nodes", nodes);
	return object;
}

static const char *or_none(const char *list)
{
	return *list ? list : "none";
}

static void print_info(const struct ms_node_info *info)
{
	char lent[256], could[256];
	bool system = false;

	hwloc_bitmap_list_snprintf(lent, sizeof(lent), info->lent_cpus);
	hwloc_bitmap_list_snprintf(could, sizeof(could), info->free_cpus);
	printf("lent        to %u LWK instance%s: CPUs %s, %ju MB of memory\n"
	       "could lend  CPUs %s, of the memory below at most %ju MB\n\n",
	       info->instances, info->instances == 1 ? "" : "s", or_none(lent), MB(info->lent),
	       or_none(could), MB(info->spare));
	printf("MB           -------lent-------  ---------could be lent, in pages of---------\n"
	       "node  total      all  one run        4K       2M       1G  one run  CPUs\n");
	for (size_t i = 0; i < info->n_numa; i++) {
		const struct ms_numa_info *numa = &info->numa[i];

		hwloc_bitmap_list_snprintf(could, sizeof(could), numa->free_cpus);
		printf("%3u%c %7ju  %7ju  %7ju   %7ju  %7ju  %7ju  %7ju  %s\n", numa->node,
		       numa->system ? '*' : ' ', MB(numa->total), MB(numa->lent),
		       MB(numa->largest_lent), MB(numa->free_4k), MB(numa->free_2m),
		       MB(numa->free_1g), MB(numa->largest_free), or_none(could));
		system |= numa->system;
	}
	if (system)
		puts("* kept for the system: LWKs get its memory last");
}

static int run(const struct options *options)
{
	struct ms_node_info info;
	struct ms_config *config;
	struct ms_error err;
	int ret;

	if (features)
		return print_features(options->config);
	if (ms_config_load(options->config, &config, &err) < 0)
		return fail(&err);
	ret = ms_node_info(config, &info, &err);
	ms_config_free(config);
	if (ret < 0)
		return fail(&err);
	if (options->json)
		print_json(info_to_json(&info));
	else
		print_info(&info);
	ms_node_info_release(&info);
	return EXIT_OK;
}

const struct verb verb_node = {
	.name = "node",
	.summary = "Show what this node has lent to LWKs and could lend (root)",
	.help = "Shows the CPUs that this node has lent to LWKs and those that it could lend, and for each "
		"NUMA node the same of its memory, by size of page and with the largest contiguous run. "
		"Root only.",
	.for_root = true,
	.options =
		(const struct argp_option[]){ CONFIG_OPTION,
					      JSON_OPTION,
					      FLAG("features", OPTION_FEATURES,
						   "Print the feature of a node that can run LWKs"),
					      { 0 } },
	.parse = parse,
	.run = run,
};
