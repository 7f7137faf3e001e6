// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/show.h"

#include <stdio.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "lwkctl/mpi/heat.h"

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
	       name, prediction->seconds, choice_factor(profile, prediction), prediction->waits,
	       prediction->bytes);
}

static void print_split(const struct profile *profile, const struct choice *choice)
{
	printf("split over sites:");
	for (size_t i = 0; i < choice->n_nodes; i++)
		printf("%s%d", i ? "+" : " ", choice->nodes[i].slots);
	printf(" ranks, links with %g ms and %g MB/s\n", choice->link.delay * 1e3,
	       choice->link.bandwidth / 1e6);
	print_prediction(profile, "block", &choice->at_block);
	print_prediction(profile, "best", &choice->at_best);
	printf("class: %s-intensive\n",
	       choice_is_network_intensive(choice, profile, &choice->at_block) ? "network"
									       : "compute");
}

void show_text(const struct profile *profile, const struct choice *choice)
{
	double share, imbalance;

	shares(profile, &share, &imbalance);
	printf("job %s: %s, %d ranks, %.3f s, %.1f %% of it in MPI, imbalance %.2f\n", profile->job,
	       profile->program, profile->ranks, profile_seconds(profile), 100 * share, imbalance);
	if (profile->several_programs)
		puts("the ranks ran several programs, or the files are of several steps");
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

static void print_row(const struct choice *choice, const struct profile *profile, void *context)
{
	char split[32];

	snprintf(split, sizeof(split), "%d,%d", choice->nodes[0].slots, choice->nodes[1].slots);
	printf("%-12s %12.3f %8.2f %12.3f %8.2f  %s\n", split, choice->at_block.seconds,
	       choice_factor(profile, &choice->at_block), choice->at_best.seconds,
	       choice_factor(profile, &choice->at_best),
	       choice_is_network_intensive(choice, profile, &choice->at_block) ? "network"
									       : "compute");
}

int show_splits(const struct profile *profile, const struct choice *choice, struct ms_error *err)
{
	printf("%-12s %12s %8s %12s %8s  %s\n", "SPLIT", "BLOCK", "FACTOR", "BEST", "FACTOR",
	       "CLASS");
	return choice_each_split(choice, profile, print_row, NULL, err);
}

static void add_row(const struct choice *choice, const struct profile *profile, void *context)
{
	struct json_object *row = json_object_new_object(), *split = json_object_new_array();

	json_object_array_add(split, json_object_new_int(choice->nodes[0].slots));
	json_object_array_add(split, json_object_new_int(choice->nodes[1].slots));
	json_object_object_add(row, "split", split);
	json_object_object_add(row, "block", show_prediction(&choice->at_block));
	json_object_object_add(row, "best", show_prediction(&choice->at_best));
	json_object_array_add(context, row);
}

struct json_object *show_prediction(const struct prediction *prediction)
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
		json_add_number(row, "turns", edge->leads + edge->follows);
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

int show_json(const struct profile *profile, const struct choice *choice)
{
	struct json_object *object = json_object_new_object();
	struct json_object *splits = json_object_new_array();
	double share, imbalance;
	struct ms_error err;

	if (choice_each_split(choice, profile, add_row, splits, &err) < 0) {
		json_object_put(splits);
		json_object_put(object);
		return fail(&err);
	}
	shares(profile, &share, &imbalance);
	json_add_text(object, "job", profile->job);
	json_add_text(object, "program", profile->program);
	json_add_text(object, "program_hash", profile->program_hash);
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
	json_object_object_add(object, "block", show_prediction(&choice->at_block));
	json_object_object_add(object, "best", show_prediction(&choice->at_best));
	json_object_object_add(object, "splits", splits);
	json_add_text(object, "class",
		      choice_is_network_intensive(choice, profile, &choice->at_block) ? "network"
										      : "compute");
	return print_json(object);
}
