// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl mpi: shows the traffic of an MPI program, and says where its ranks should be. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "lwkctl/mpi/heat.h"
#include "lwkctl/mpi/place.h"
#include "lwkctl/mpi/predict.h"
#include "lwkctl/mpi/profile.h"
#include "lwkctl/mpi/save.h"
#include "modeswitch/job.h"

/* More than that is slower by, and a program is network-intensive. */
#define TOLERABLE 1.1
/* The rule of the paper: bytes a second between two halves. */
#define THRESHOLD 10e6
#define NODES_MAX 4096

enum {
	OPTION_SVG = OPTION_OWN,
	OPTION_DELAY,
	OPTION_BANDWIDTH,
	OPTION_SPLIT,
	OPTION_RULE,
	OPTION_NODES,
	OPTION_WRITE,
	OPTION_AS,
	OPTION_QUIET
};

static struct {
	const char *svg, *delay, *bandwidth, *split, *rule, *nodes, *write, *as;
	bool quiet;
} given;

static struct link link_between = { .delay = 0.005, .bandwidth = 12.5e6 };

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

static bool link_options(void)
{
	double milliseconds = 5, megabytes = 12.5;

	if (!number("--delay", given.delay, 0, 1e6, &milliseconds) ||
	    !number("--bandwidth", given.bandwidth, 1e-6, 1e9, &megabytes))
		return false;
	if (given.rule && strcmp(given.rule, "threshold") != 0 && strcmp(given.rule, "time") != 0) {
		usage_error("--rule time or --rule threshold", given.rule);
		return false;
	}
	link_between.delay = milliseconds / 1e3;
	link_between.bandwidth = megabytes * 1e6;
	return true;
}

/*
 * Reads "3,1", ranks of each site, as a node for each site. Returns the number of sites; 0 after a
 * message.
 */
static size_t split_option(int ranks, struct place_node *nodes)
{
	const char *text = given.split;
	size_t n = 0;
	int sum = 0;

	if (!text) {
		nodes[0] = (struct place_node){ .slots = (ranks + 1) / 2, .site = 0 };
		nodes[1] = (struct place_node){ .slots = ranks / 2, .site = 1 };
		return ranks > 1 ? 2 : 1;
	}
	while (*text && n < NODES_MAX) {
		char *end;
		long slots = strtol(text, &end, 10);

		if (end == text || slots < 1 || slots > ranks || (*end && *end != ','))
			break;
		nodes[n] = (struct place_node){ .slots = slots, .site = n };
		n++;
		sum += slots;
		text = *end ? end + 1 : end;
	}
	if (!*text && sum == ranks)
		return n;
	fprintf(stderr,
		"lwkctl: mpi: --split: expected numbers of ranks, one for each site, that make %d "
		"together, found \"%s\"; write them as in 3,1\n",
		ranks, given.split);
	return 0;
}

/* Reads one "NAME" or "NAME:SLOTS"; slots are 0 when they are not given. */
static bool node_item(const char *text, size_t length, int site, struct place_node *node)
{
	const char *colon = memchr(text, ':', length);
	size_t name = colon ? (size_t)(colon - text) : length;
	char *end = NULL;
	long slots = colon ? strtol(colon + 1, &end, 10) : 0;

	if (!name || name >= sizeof(node->name) || slots < 0 || slots > PROFILE_RANKS_MAX ||
	    (colon && (end != text + length || !slots)))
		return false;
	memset(node, 0, sizeof(*node));
	memcpy(node->name, text, name);
	node->slots = slots;
	node->site = site;
	return true;
}

/* Reads "a:4,b:4;c:4": ';' stands between sites. Returns the number of nodes; 0 after a message. */
static size_t nodes_option(int ranks, struct place_node *nodes)
{
	const char *text = given.nodes ? given.nodes : "";
	size_t n = 0, open_slots = 0;
	int site = 0, sum = 0;

	while (*text && n < NODES_MAX) {
		size_t length = strcspn(text, ",;");

		if (!node_item(text, length, site, &nodes[n]))
			break;
		open_slots += nodes[n].slots == 0;
		sum += nodes[n++].slots;
		text += length;
		site += *text == ';';
		text += *text != '\0';
	}
	/* Nodes without a number share the rest evenly. */
	for (size_t i = 0; i < n && open_slots; i++) {
		int rest = ranks - sum;

		if (nodes[i].slots)
			continue;
		nodes[i].slots = rest > 0 ? (rest + (int)open_slots - 1) / (int)open_slots : 0;
		sum += nodes[i].slots;
		open_slots--;
	}
	if (!*text && n && sum >= ranks)
		return n;
	fprintf(stderr,
		"lwkctl: mpi: --nodes: expected nodes with at least %d slots, found \"%s\" with %d; "
		"write them as in a:4,b:4;c:4 with ';' between sites\n",
		ranks, given.nodes ? given.nodes : "", sum);
	return 0;
}

/* ---- what is sent between pairs of ranks ---- */

struct weighing {
	double *weights;
	int n;
};

static void add_weight(int a, int b, double bytes, int round, void *context)
{
	struct weighing *weighing = context;

	if (a == b)
		return;
	weighing->weights[(size_t)a * weighing->n + b] += 2 * bytes;
	weighing->weights[(size_t)b * weighing->n + a] += 2 * bytes;
}

/* A message weighs its bytes, and what the link could carry while it is under way. */
static double *weigh(const struct profile *profile)
{
	double message = link_between.delay * link_between.bandwidth;
	struct weighing weighing = {
		.weights = calloc((size_t)profile->ranks * profile->ranks, sizeof(double)),
		.n = profile->ranks,
	};

	for (size_t i = 0; weighing.weights && i < profile->n_edges; i++) {
		const struct profile_edge *edge = &profile->edges[i];

		add_weight(edge->from, edge->to, (edge->bytes + edge->n * message) / 2, 0,
			   &weighing);
	}
	for (size_t i = 0; weighing.weights && i < profile->n_operations; i++)
		predict_pattern(&profile->operations[i], add_weight, &weighing);
	return weighing.weights;
}

static void predict_on(const struct profile *profile, const struct place_node *nodes,
		       const int *node, struct prediction *prediction)
{
	int *site = calloc(profile->ranks, sizeof(int));

	memset(prediction, 0, sizeof(*prediction));
	for (int i = 0; site && i < profile->ranks; i++)
		site[i] = nodes[node[i]].site;
	if (site)
		predict(profile, site, &link_between, prediction);
	free(site);
}

/* Block and the best placement that was found, on nodes. */
struct choice {
	struct place_node nodes[NODES_MAX];
	size_t n_nodes;
	int *block, *best;
	double block_cost, best_cost;
	struct prediction at_block, at_best;
};

static int choose(const struct profile *profile, struct choice *choice, struct ms_error *err)
{
	double *weights = weigh(profile);
	int ret = -1;

	choice->block = calloc(profile->ranks, sizeof(int));
	choice->best = calloc(profile->ranks, sizeof(int));
	if (weights && choice->block && choice->best) {
		place_block(profile->ranks, choice->nodes, choice->n_nodes, choice->block);
		ret = place_ranks(weights, profile->ranks, choice->nodes, choice->n_nodes,
				  choice->best);
	}
	if (ret == 0) {
		choice->block_cost =
			place_cost(weights, profile->ranks, choice->nodes, choice->block);
		choice->best_cost =
			place_cost(weights, profile->ranks, choice->nodes, choice->best);
		predict_on(profile, choice->nodes, choice->block, &choice->at_block);
		predict_on(profile, choice->nodes, choice->best, &choice->at_best);
	} else {
		ms_fail(err, "expected memory for the traffic of %d ranks, found none",
			profile->ranks);
	}
	free(weights);
	return ret;
}

static void release_choice(struct choice *choice)
{
	free(choice->block);
	free(choice->best);
	free(choice);
}

/* ---- show ---- */

static double factor(const struct profile *profile, const struct prediction *prediction)
{
	double measured = profile_seconds(profile);

	return measured > 0 ? prediction->seconds / measured : 0;
}

static bool is_network_intensive(const struct profile *profile, const struct prediction *prediction)
{
	if (given.rule && strcmp(given.rule, "threshold") == 0)
		return prediction->bytes > THRESHOLD * profile_seconds(profile);
	return factor(profile, prediction) > TOLERABLE;
}

/* The share of the time that is in MPI, and the longest computing over the mean of it. */
static void shares(const struct profile *profile, double *share, double *imbalance)
{
	double seconds = 0, in_mpi = 0, most = 0;

	for (int i = 0; i < profile->ranks; i++) {
		const struct profile_rank *rank = &profile->rank[i];

		seconds += rank->seconds;
		in_mpi += rank->mpi_seconds;
		if (rank->seconds - rank->mpi_seconds > most)
			most = rank->seconds - rank->mpi_seconds;
	}
	*share = seconds > 0 ? in_mpi / seconds : 0;
	*imbalance = seconds > in_mpi && profile->present
			     ? most / ((seconds - in_mpi) / profile->present)
			     : 1;
}

static void print_prediction(const struct profile *profile, const char *name,
			     const struct prediction *prediction)
{
	printf("  %-6s %10.3f s, x%.2f: %.0f waits for a message that crosses, %.0f bytes cross\n",
	       name, prediction->seconds, factor(profile, prediction), prediction->waits,
	       prediction->bytes);
}

static void print_split(const struct profile *profile, const struct choice *choice)
{
	printf("split over sites:");
	for (size_t i = 0; i < choice->n_nodes; i++)
		printf("%s%d", i ? "+" : " ", choice->nodes[i].slots);
	printf(" ranks, links with %g ms and %g MB/s\n", link_between.delay * 1e3,
	       link_between.bandwidth / 1e6);
	print_prediction(profile, "block", &choice->at_block);
	print_prediction(profile, "best", &choice->at_best);
	printf("class: %s-intensive\n",
	       is_network_intensive(profile, &choice->at_block) ? "network" : "compute");
}

static void print_profile(const struct profile *profile, const struct choice *choice)
{
	double share, imbalance;

	shares(profile, &share, &imbalance);
	printf("job %s: %s, %d ranks, %.3f s, %.1f %% of it in MPI, imbalance %.2f\n", profile->job,
	       profile->program, profile->ranks, profile_seconds(profile), 100 * share, imbalance);
	if (profile->present < profile->ranks)
		printf("%d ranks are missing: name the files of all nodes\n",
		       profile->ranks - profile->present);
	if (profile->unknown_peers || profile->unknown_sizes || profile->lost)
		printf("not in the tables: %ju messages to unknown ranks, %ju unknown sizes, %ju "
		       "operations without room\n",
		       (uintmax_t)profile->unknown_peers, (uintmax_t)profile->unknown_sizes,
		       (uintmax_t)profile->lost);
	heat_print(profile, stdout);
	printf("%-24s %12s %12s %12s\n", "FUNCTION", "CALLS", "SECONDS", "MOST");
	for (size_t i = 0; i < profile->n_functions; i++)
		printf("MPI_%-20s %12ju %12.6f %12.6f\n", profile->functions[i].name,
		       (uintmax_t)profile->functions[i].n, profile->functions[i].seconds,
		       profile->functions[i].most);
	if (profile->n_operations)
		printf("%-24s %12s %12s %12s\n", "COLLECTIVE", "RANKS", "OPERATIONS", "BYTES");
	for (size_t i = 0; i < profile->n_operations; i++)
		printf("MPI_%-20s %12d %12ju %12ju\n", profile->operations[i].name,
		       profile->operations[i].size, (uintmax_t)profile->operations[i].n,
		       (uintmax_t)profile->operations[i].bytes);
	print_split(profile, choice);
}

static struct json_object *prediction_to_json(const struct prediction *prediction)
{
	struct json_object *object = json_object_new_object();

	json_add_double(object, "seconds", prediction->seconds);
	json_add_double(object, "bytes", prediction->bytes);
	json_add_double(object, "waits", prediction->waits);
	return object;
}

static struct json_object *matrix_to_json(const struct profile *profile)
{
	struct json_object *rows = json_object_new_array();

	for (size_t i = 0; i < profile->n_edges; i++) {
		const struct profile_edge *edge = &profile->edges[i];
		struct json_object *row = json_object_new_object();

		json_add_number(row, "from", edge->from);
		json_add_number(row, "to", edge->to);
		json_add_number(row, "messages", edge->n);
		json_add_number(row, "blocking", edge->blocking);
		json_add_number(row, "bytes", edge->bytes);
		json_object_array_add(rows, row);
	}
	return rows;
}

static struct json_object *functions_to_json(const struct profile *profile)
{
	struct json_object *functions = json_object_new_object();

	for (size_t i = 0; i < profile->n_functions; i++) {
		struct json_object *row = json_object_new_object();

		json_add_number(row, "calls", profile->functions[i].n);
		json_add_double(row, "seconds", profile->functions[i].seconds);
		json_add_double(row, "most", profile->functions[i].most);
		json_object_object_add(functions, profile->functions[i].name, row);
	}
	return functions;
}

static struct json_object *operations_to_json(const struct profile *profile)
{
	struct json_object *rows = json_object_new_array();

	for (size_t i = 0; i < profile->n_operations; i++) {
		const struct profile_operation *operation = &profile->operations[i];
		struct json_object *row = json_object_new_object();

		json_add_text(row, "function", operation->name);
		json_add_number(row, "ranks", operation->size);
		json_add_number(row, "operations", operation->n);
		json_add_number(row, "bytes", operation->bytes);
		json_add_double(row, "seconds", operation->seconds);
		json_object_array_add(rows, row);
	}
	return rows;
}

static int show_json(const struct profile *profile, const struct choice *choice)
{
	struct json_object *object = json_object_new_object();
	double share, imbalance;

	shares(profile, &share, &imbalance);
	json_add_text(object, "job", profile->job);
	json_add_text(object, "program", profile->program);
	json_add_number(object, "ranks", profile->ranks);
	json_add_number(object, "present", profile->present);
	json_add_double(object, "seconds", profile_seconds(profile));
	json_add_double(object, "mpi_share", share);
	json_add_double(object, "imbalance", imbalance);
	json_add_number(object, "unknown_peers", profile->unknown_peers);
	json_add_number(object, "unknown_sizes", profile->unknown_sizes);
	json_add_number(object, "lost", profile->lost);
	json_object_object_add(object, "matrix", matrix_to_json(profile));
	json_object_object_add(object, "functions", functions_to_json(profile));
	json_object_object_add(object, "collectives", operations_to_json(profile));
	json_object_object_add(object, "block", prediction_to_json(&choice->at_block));
	json_object_object_add(object, "best", prediction_to_json(&choice->at_best));
	json_add_text(object, "class",
		      is_network_intensive(profile, &choice->at_block) ? "network" : "compute");
	return print_json(object);
}

static int show(const struct options *options, const struct profile *profile, struct choice *choice)
{
	struct ms_error err;

	if (given.svg)
		return heat_write_svg(profile, given.svg, &err) < 0 ? fail(&err) : EXIT_OK;
	choice->n_nodes = split_option(profile->ranks, choice->nodes);
	if (!choice->n_nodes)
		return EXIT_USAGE;
	if (choose(profile, choice, &err) < 0)
		return fail(&err);
	if (options->json)
		return show_json(profile, choice);
	print_profile(profile, choice);
	return EXIT_OK;
}

/* ---- place and advise ---- */

/* How much less the best placement costs than block; 1: nothing to win. */
static double win(const struct choice *choice)
{
	return choice->best_cost > 0 ? choice->block_cost / choice->best_cost : 1;
}

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

static int place(const struct options *options, const struct profile *profile,
		 struct choice *choice)
{
	struct ms_error err;

	choice->n_nodes = nodes_option(profile->ranks, choice->nodes);
	if (!choice->n_nodes)
		return EXIT_USAGE;
	if (choose(profile, choice, &err) < 0 ||
	    (given.write && write_hosts(profile, choice, &err) < 0))
		return fail(&err);
	if (options->json) {
		struct json_object *object = json_object_new_object();
		struct json_object *ranks = json_object_new_array();

		for (int i = 0; i < profile->ranks; i++)
			json_object_array_add(
				ranks, json_object_new_string(choice->nodes[choice->best[i]].name));
		json_object_object_add(object, "node", ranks);
		json_add_double(object, "cost", choice->best_cost);
		json_add_double(object, "block_cost", choice->block_cost);
		json_object_object_add(object, "block", prediction_to_json(&choice->at_block));
		json_object_object_add(object, "best", prediction_to_json(&choice->at_best));
		return print_json(object);
	}
	if (win(choice) < 1.01)
		puts("nothing to win: the ranks' block distribution is as good as any that was "
		     "found");
	else
		printf("costs between nodes: x%.2f less than with Slurm's block distribution\n",
		       win(choice));
	for (size_t node = 0; node < choice->n_nodes; node++) {
		printf("%s:", choice->nodes[node].name);
		for (int i = 0; i < profile->ranks; i++) {
			if (choice->best[i] == (int)node)
				printf(" %d", i);
		}
		putchar('\n');
	}
	if (given.write)
		printf("run it with SLURM_HOSTFILE=%s srun --distribution=arbitrary\n",
		       given.write);
	return EXIT_OK;
}

static int advise(const struct options *options, const struct profile *profile,
		  struct choice *choice)
{
	struct ms_error err;

	choice->n_nodes = split_option(profile->ranks, choice->nodes);
	if (!choice->n_nodes)
		return EXIT_USAGE;
	if (choose(profile, choice, &err) < 0)
		return fail(&err);
	if (!is_network_intensive(profile, &choice->at_block))
		printf("may span sites: predicted x%.2f with block distribution\n",
		       factor(profile, &choice->at_block));
	else if (!is_network_intensive(profile, &choice->at_best))
		printf("may span sites, when lwkctl mpi place chooses the nodes of its ranks: "
		       "predicted x%.2f, with block distribution x%.2f\n",
		       factor(profile, &choice->at_best), factor(profile, &choice->at_block));
	else
		printf("--switches=1: keep it in one site; over two it is predicted x%.2f with "
		       "block distribution, x%.2f at best\n",
		       factor(profile, &choice->at_block), factor(profile, &choice->at_best));
	if (win(choice) < 1.01)
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

static int run(const struct options *options)
{
	static const struct {
		const char *name;
		int (*run)(const struct options *options, const struct profile *profile,
			   struct choice *choice);
	} actions[] = { { "place", place }, { "advise", advise }, { "show", show } };
	const char *first = options->n_arguments ? options->arguments[0] : "";
	size_t action = 0, n = sizeof(actions) / sizeof(*actions);
	struct profile profile;
	struct choice *choice;
	struct ms_error err;
	int skip = 1, status;

	if (!link_options())
		return EXIT_USAGE;
	if (strcmp(first, "save") == 0) {
		if (options->n_arguments != 3)
			return usage_error("save DIRECTORY FILE", first);
		return pages_save(options->arguments[1], options->arguments[2], given.as,
				  given.quiet, &err) < 0
			       ? fail(&err)
			       : EXIT_OK;
	}
	while (action < n && strcmp(first, actions[action].name) != 0)
		action++;
	if (action == n) {
		action = n - 1;
		skip = 0;
	}
	if (options->n_arguments <= skip)
		return usage_error("a step or a file", "nothing");
	choice = calloc(1, sizeof(*choice));
	if (!choice)
		return EXIT_FAILED;
	if (read_profile(options->arguments + skip, options->n_arguments - skip, &profile, &err) <
	    0) {
		free(choice);
		return fail(&err);
	}
	status = actions[action].run(options, &profile, choice);
	release_choice(choice);
	profile_release(&profile);
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
			       "It carries MB million bytes a second (12.5)"),
			OPTION("split", OPTION_SPLIT, "LIST",
			       "Ranks of each site, such as 24,8 (halves)"),
			OPTION("rule", OPTION_RULE, "RULE",
			       "Class by predicted time (time) or by 10 MB/s (threshold)"),
			OPTION("nodes", OPTION_NODES, "LIST",
			       "place: nodes and slots, such as a:4,b:4;c:8"),
			OPTION("write", OPTION_WRITE, "HOSTS",
			       "place: write the node of each rank into HOSTS"),
			OPTION("as", OPTION_AS, "UID:GID", "save: take on these rights first"),
			FLAG("quiet", OPTION_QUIET, "save: do not tell that there is no page"),
			{ 0 } },
	.parse = parse,
	.run = run,
};
