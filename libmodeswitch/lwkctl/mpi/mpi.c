// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl mpi: shows the traffic of an MPI program, and says where its ranks should be. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "lwkctl/mpi/choice.h"
#include "lwkctl/mpi/heat.h"
#include "lwkctl/mpi/profile.h"
#include "lwkctl/mpi/save.h"
#include "lwkctl/mpi/show.h"
#include "modeswitch/job.h"

enum {
	OPTION_SVG = OPTION_OWN,
	OPTION_DELAY,
	OPTION_BANDWIDTH,
	OPTION_SPLIT,
	OPTION_RULE,
	OPTION_NODES,
	OPTION_SLOTS,
	OPTION_NUMA,
	OPTION_WRITE,
	OPTION_AS,
	OPTION_QUIET
};

static struct {
	const char *svg, *delay, *bandwidth, *split, *rule, *nodes, *slots, *numa, *write, *as;
	bool quiet;
} given;

static error_t parse(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case OPTION_SVG:
		given.svg = text;
		return 0;
	case OPTION_DELAY:
		given.delay = text;
		return 0;
	case OPTION_BANDWIDTH:
		given.bandwidth = text;
		return 0;
	case OPTION_SPLIT:
		given.split = text;
		return 0;
	case OPTION_RULE:
		given.rule = text;
		return 0;
	case OPTION_NODES:
		given.nodes = text;
		return 0;
	case OPTION_SLOTS:
		given.slots = text;
		return 0;
	case OPTION_NUMA:
		given.numa = text;
		return 0;
	case OPTION_WRITE:
		given.write = text;
		return 0;
	case OPTION_AS:
		given.as = text;
		return 0;
	case OPTION_QUIET:
		given.quiet = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* ---- reading the command line ---- */

static bool number(const char *option, const char *text, double least, double most, double *value)
{
	char *end, wanted[96];

	if (!text)
		return true;
	*value = strtod(text, &end);
	if (end != text && !*end && *value >= least && *value <= most)
		return true;
	snprintf(wanted, sizeof(wanted), "%s with a number from %g to %g", option, least, most);
	usage_error(wanted, text);
	return false;
}

static bool link_options(struct choice *choice)
{
	double milliseconds = 5, megabytes = 12.5;

	if (!number("--delay", given.delay, 0, 1e6, &milliseconds) ||
	    !number("--bandwidth", given.bandwidth, 1e-6, 1e9, &megabytes))
		return false;
	if (given.rule && strcmp(given.rule, "threshold") != 0 && strcmp(given.rule, "time") != 0) {
		usage_error("--rule time or --rule threshold", given.rule);
		return false;
	}
	choice->link = (struct link){ .delay = milliseconds / 1e3, .bandwidth = megabytes * 1e6 };
	choice->by_threshold = given.rule && strcmp(given.rule, "threshold") == 0;
	return true;
}

static int show(const struct options *options, const struct profile *profile, struct choice *choice)
{
	struct ms_error err;

	if (given.svg)
		return heat_write_svg(profile, given.svg, &err) < 0 ? fail(&err) : EXIT_OK;
	if (!choice_split(choice, given.split, profile->ranks))
		return EXIT_USAGE;
	if (choice_make(choice, profile, &err) < 0)
		return fail(&err);
	if (options->json)
		return show_json(profile, choice);
	show_text(profile, choice);
	if (!given.split && profile->ranks > 2 && show_splits(profile, choice, &err) < 0)
		return fail(&err);
	return EXIT_OK;
}

/* ---- place and advise ---- */

static int write_hosts(const struct profile *profile, const struct choice *choice,
		       struct ms_error *err)
{
	int fd = open(given.write, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool failed;

	if (!out)
		return ms_fail(err, "%s: %m", given.write);
	for (int i = 0; i < profile->ranks; i++)
		fprintf(out, "%s\n", choice->nodes[choice->best[i]].name);
	failed = ferror(out);
	return fclose(out) == 0 && !failed ? 0 : ms_fail(err, "%s: %m", given.write);
}

/* Prints the node's ranks, with "|" between those of its NUMA nodes. */
static void print_ranks(const struct profile *profile, const struct choice *choice, int node)
{
	int numa = choice->nodes[node].numa;

	printf("%s:", choice->nodes[node].name);
	for (int group = 0; group < numa; group++) {
		int place = 0;

		fputs(group ? " |" : "", stdout);
		for (int i = 0; i < profile->ranks; i++) {
			if (choice->best[i] == node && place++ % numa == group)
				printf(" %d", i);
		}
	}
	putchar('\n');
}

static int place(const struct options *options, const struct profile *profile,
		 struct choice *choice)
{
	struct ms_error err;
	double numa = 1;

	if (!number("--numa", given.numa, 1, 1024, &numa) ||
	    !choice_nodes(choice, given.nodes ? given.nodes : "", given.slots, profile->ranks))
		return EXIT_USAGE;
	for (size_t i = 0; i < choice->n_nodes; i++)
		choice->nodes[i].numa = numa;
	if (choice_make(choice, profile, &err) < 0 ||
	    (given.write && write_hosts(profile, choice, &err) < 0))
		return fail(&err);
	if (options->json) {
		struct json_object *object = json_object_new_object();
		struct json_object *ranks = json_object_new_array();

		for (int i = 0; i < profile->ranks; i++)
			json_object_array_add(
				ranks, json_object_new_string(choice->nodes[choice->best[i]].name));
		json_object_object_add(object, "node", ranks);
		json_add_text(object, "program_hash", profile->program_hash);
		json_add_double(object, "cost", choice->best_cost);
		json_add_double(object, "block_cost", choice->block_cost);
		json_object_object_add(object, "block", show_prediction(&choice->at_block));
		json_object_object_add(object, "best", show_prediction(&choice->at_best));
		return print_json(object);
	}
	if (choice_win(choice) < 1.01)
		puts("nothing to win: the ranks' block distribution is as good as any that was "
		     "found");
	else if (isinf(choice_win(choice)))
		puts("nothing is sent between nodes; with Slurm's block distribution it is");
	else
		printf("costs between nodes: x%.2f less than with Slurm's block distribution\n",
		       choice_win(choice));
	for (size_t node = 0; node < choice->n_nodes; node++)
		print_ranks(profile, choice, node);
	if (given.write)
		printf("run it with SLURM_HOSTFILE=%s srun --distribution=arbitrary\n",
		       given.write);
	return EXIT_OK;
}

static int advise(const struct options *options, const struct profile *profile,
		  struct choice *choice)
{
	struct ms_error err;

	if (!choice_split(choice, given.split, profile->ranks))
		return EXIT_USAGE;
	if (choice_make(choice, profile, &err) < 0)
		return fail(&err);
	if (!choice_is_network_intensive(choice, profile, &choice->at_block))
		printf("may span sites: predicted x%.2f with block distribution\n",
		       choice_factor(profile, &choice->at_block));
	else if (!choice_is_network_intensive(choice, profile, &choice->at_best))
		printf("may span sites, when lwkctl mpi place chooses the nodes of its ranks: "
		       "predicted x%.2f, with block distribution x%.2f\n",
		       choice_factor(profile, &choice->at_best),
		       choice_factor(profile, &choice->at_block));
	else
		printf("--switches=1: keep it in one site; over two it is predicted x%.2f with "
		       "block distribution, x%.2f at best\n",
		       choice_factor(profile, &choice->at_block),
		       choice_factor(profile, &choice->at_best));
	if (choice_win(choice) < 1.01)
		puts("--distribution=block: nothing to win by another placement");
	return EXIT_OK;
}

/* ---- the profile that is meant ---- */

/* A running step's pages on this node. */
static int read_pages(const char *step, struct profile *profile, struct ms_error *err)
{
	char directory[256], *text = NULL;
	struct pages pages;
	size_t length;
	FILE *out;
	int ret;

	snprintf(directory, sizeof(directory), MS_STATE_DIR "/mpi/%s", step);
	out = open_memstream(&text, &length);
	if (!out)
		return ms_fail(err, "%s: %m", directory);
	ret = pages_print(directory, step, out, &pages, err);
	fclose(out);
	if (ret == 0 && !pages.printed)
		ret = ms_fail(err,
			      "%s: expected pages of MPI ranks that run on this node, found "
			      "none",
			      directory);
	if (ret == 0)
		ret = profile_parse(text, length, directory, profile, err);
	free(text);
	return ret;
}

static bool is_step(const char *text)
{
	return *text && strspn(text, "0123456789") > 0 &&
	       (!strcmp(text + strspn(text, "0123456789"), ".batch") ||
		strspn(text, "0123456789.") == strlen(text));
}

/* JOB.STEP is a file of the current directory, or else a step that runs. */
static int read_profile(char **arguments, int n, struct profile *profile, struct ms_error *err)
{
	char file[64], *path = file;

	if (n != 1 || !is_step(arguments[0]) || strlen(arguments[0]) > 40)
		return profile_read(arguments, n, profile, err);
	snprintf(file, sizeof(file), "mpi-%s.json", arguments[0]);
	return access(file, R_OK) == 0 ? profile_read(&path, 1, profile, err)
				       : read_pages(arguments[0], profile, err);
}

static int save(const struct options *options)
{
	const struct saving saving = { given.as, given.quiet, options->json };
	struct ms_error err;

	if (options->n_arguments != 3)
		return usage_error("save DIRECTORY FILE", options->arguments[0]);
	return pages_save(options->arguments[1], options->arguments[2], &saving, &err) < 0
		       ? fail(&err)
		       : EXIT_OK;
}

static int run(const struct options *options)
{
	static const struct {
		const char *name;
		int (*run)(const struct options *options, const struct profile *profile,
			   struct choice *choice);
	} actions[] = { { "place", place }, { "advise", advise }, { "show", show } };
	const char *first = options->n_arguments ? options->arguments[0] : "";
	size_t action = 0, n = sizeof(actions) / sizeof(*actions);
	struct choice *choice;
	struct profile profile;
	struct ms_error err;
	int skip = 1, status;

	if (strcmp(first, "save") == 0)
		return save(options);
	while (action < n && strcmp(first, actions[action].name) != 0)
		action++;
	if (action == n) {
		action = n - 1;
		skip = 0;
	}
	if (options->n_arguments <= skip)
		return usage_error("a step or a file", "nothing");
	choice = calloc(1, sizeof(*choice));
	if (!choice) {
		ms_fail(&err, "expected memory for %d nodes, found none", CHOICE_NODES_MAX);
		return fail(&err);
	}
	if (!link_options(choice)) {
		status = EXIT_USAGE;
	} else if (read_profile(options->arguments + skip, options->n_arguments - skip, &profile,
				&err) < 0) {
		status = fail(&err);
	} else {
		status = actions[action].run(options, &profile, choice);
		profile_release(&profile);
	}
	choice_release(choice);
	return status;
}

const struct verb verb_mpi = {
	.name = "mpi",
	.summary = "Show an MPI program's traffic, and place its ranks",
	.help = "Shows the traffic between the ranks of a step or of a profile that srun "
		"--mpi-profile has made; 'place' chooses nodes for the ranks, 'advise' says "
		"whether the program may span sites, 'save' saves what killed ranks have counted.",
	.arguments = "[place|advise] JOB.STEP|FILE...\nsave DIRECTORY FILE",
	.most_arguments = 4096,
	.options =
		(const struct argp_option[]){
			JSON_OPTION,
			OPTION("svg", OPTION_SVG, "FILE", "Draw the matrix into FILE"),
			OPTION("delay", OPTION_DELAY, "MS",
			       "A link between sites adds MS milliseconds (5)"),
			OPTION("bandwidth", OPTION_BANDWIDTH, "MB",
			       "It carries MB million bytes a second each way (12.5)"),
			OPTION("split", OPTION_SPLIT, "LIST",
			       "Ranks of each site, such as 24,8 (halves)"),
			OPTION("rule", OPTION_RULE, "RULE",
			       "Class by predicted time (time) or by 10 MB/s (threshold)"),
			OPTION("nodes", OPTION_NODES, "LIST",
			       "place: nodes and slots, such as a:4,b[1-2]:4;c:8"),
			OPTION("slots", OPTION_SLOTS, "LIST",
			       "place: slots of the nodes, such as 4(x2),1"),
			OPTION("numa", OPTION_NUMA, "N",
			       "place: each node deals its ranks to N NUMA nodes (1)"),
			OPTION("write", OPTION_WRITE, "HOSTS",
			       "place: write the node of each rank into HOSTS"),
			OPTION("as", OPTION_AS, "UID:GID", "save: take on these rights first"),
			FLAG("quiet", OPTION_QUIET, "save: do not tell that there is no page"),
			{ 0 } },
	.parse = parse,
	.run = run,
};
