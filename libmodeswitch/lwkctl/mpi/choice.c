// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lwkctl/mpi/hosts.h"

/*
 * A program is network-intensive whose predicted time is more than so many times the measured one.
 */
#define TOLERABLE 1.1
/* The bound of --rule threshold, as in the paper: bytes a second between the two halves. */
#define THRESHOLD 10e6

bool choice_split(struct choice *choice, const char *text, int ranks)
{
	struct place_node *nodes = choice->nodes;
	const char *given = text;
	size_t n = 0;
	int sum = 0;

	if (!text) {
		nodes[0] = (struct place_node){ .slots = (ranks + 1) / 2, .site = 0 };
		nodes[1] = (struct place_node){ .slots = ranks / 2, .site = 1 };
		choice->n_nodes = ranks > 1 ? 2 : 1;
		return true;
	}
	while (*text && n < CHOICE_NODES_MAX) {
		char *end;
		long slots = strtol(text, &end, 10);

		if (end == text || slots < 1 || slots > ranks || (*end && *end != ','))
			break;
		nodes[n] = (struct place_node){ .slots = slots, .site = n };
		n++;
		sum += slots;
		text = *end ? end + 1 : end;
	}
	choice->n_nodes = n;
	if (!*text && sum == ranks)
		return true;
	fprintf(stderr,
		"lwkctl: mpi: --split: expected numbers of ranks, one for each site, that make %d "
		"together, found \"%s\"; write them as in 3,1\n",
		ranks, given);
	return false;
}

struct reading {
	struct choice *choice;
	int slots, site; /* of the nodes of an item; slots 0: not given */
};

static bool add_node(const char *name, void *context)
{
	struct reading *reading = context;
	struct choice *choice = reading->choice;

	if (choice->n_nodes == CHOICE_NODES_MAX)
		return false;
	choice->nodes[choice->n_nodes] =
		(struct place_node){ .slots = reading->slots, .site = reading->site };
	snprintf(choice->nodes[choice->n_nodes].name, sizeof(choice->nodes->name), "%s", name);
	choice->n_nodes++;
	return true;
}

/* Reads one "NAMES" or "NAMES:SLOTS". */
static bool node_item(const char *text, size_t length, struct reading *reading)
{
	const char *colon = memchr(text, ':', length);
	char *end = NULL;
	long slots = colon ? strtol(colon + 1, &end, 10) : 0;

	if (slots < 0 || slots > PROFILE_RANKS_MAX || (colon && (end != text + length || !slots)))
		return false;
	reading->slots = slots;
	return hosts_expand(text, colon ? (size_t)(colon - text) : length, add_node, reading);
}

bool choice_nodes(struct choice *choice, const char *text, const char *slots, int ranks)
{
	struct reading reading = { .choice = choice };
	struct place_node *nodes = choice->nodes;
	size_t n, open_slots = 0;
	const char *given = text;
	int sum = 0;

	choice->n_nodes = 0;
	while (*text) {
		size_t length = hosts_item(text);

		if (!node_item(text, length, &reading))
			break;
		text += length;
		reading.site += *text == ';';
		text += *text != '\0';
	}
	n = choice->n_nodes;
	if (!*text && n && slots && !hosts_slots(slots, nodes, n)) {
		fprintf(stderr,
			"lwkctl: mpi: --slots: expected the numbers of slots of %zu nodes, found "
			"\"%s\"; write them as in 4(x2),1\n",
			n, slots);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		open_slots += nodes[i].slots == 0;
		sum += nodes[i].slots;
	}
	if (!reading.site && n > 1)
		hosts_ask_sites(nodes, n);
	for (size_t i = 0; i < n && open_slots; i++) {
		int rest = ranks - sum;

		if (nodes[i].slots)
			continue;
		nodes[i].slots = rest > 0 ? (rest + (int)open_slots - 1) / (int)open_slots : 0;
		sum += nodes[i].slots;
		open_slots--;
	}
	if (!*text && n && sum >= ranks)
		return true;
	fprintf(stderr,
		"lwkctl: mpi: --nodes: expected nodes with at least %d slots, found \"%s\" with %d; "
		"write them as in a:4,b:4;c:4 with ';' between sites\n",
		ranks, given, sum);
	return false;
}

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
static double *weigh(const struct profile *profile, const struct link *link)
{
	double message = link->delay * link->bandwidth;
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

/* Returns 0, or -1 without memory. */
static int predict_on(const struct profile *profile, const struct choice *choice, const int *node,
		      struct prediction *prediction)
{
	int *site = calloc(profile->ranks, sizeof(int));
	int ret;

	if (!site)
		return -1;
	for (int i = 0; i < profile->ranks; i++)
		site[i] = choice->nodes[node[i]].site;
	ret = predict(profile, site, &choice->link, prediction);
	free(site);
	return ret;
}

int choice_make(struct choice *choice, const struct profile *profile, struct ms_error *err)
{
	double *weights = weigh(profile, &choice->link);
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
		ret = predict_on(profile, choice, choice->block, &choice->at_block);
		if (ret == 0)
			ret = predict_on(profile, choice, choice->best, &choice->at_best);
	}
	if (ret != 0)
		ms_fail(err, "expected memory for the traffic of %d ranks, found none",
			profile->ranks);
	free(weights);
	return ret;
}

void choice_release(struct choice *choice)
{
	free(choice->block);
	free(choice->best);
	free(choice);
}

/* Splits off 'small' ranks. */
static int make_split(const struct choice *like, const struct profile *profile, int small,
		      void (*tell)(const struct choice *choice, const struct profile *profile,
				   void *context),
		      void *context, struct ms_error *err)
{
	struct choice *choice = calloc(1, sizeof(*choice));
	int ret;

	if (!choice)
		return ms_fail(err, "expected memory for a split of %d ranks, found none",
			       profile->ranks);
	choice->link = like->link;
	choice->by_threshold = like->by_threshold;
	choice->nodes[0] = (struct place_node){ .slots = profile->ranks - small, .site = 0 };
	choice->nodes[1] = (struct place_node){ .slots = small, .site = 1 };
	choice->n_nodes = 2;
	ret = choice_make(choice, profile, err);
	if (ret == 0)
		tell(choice, profile, context);
	choice_release(choice);
	return ret;
}

int choice_each_split(const struct choice *like, const struct profile *profile,
		      void (*tell)(const struct choice *choice, const struct profile *profile,
				   void *context),
		      void *context, struct ms_error *err)
{
	int half = profile->ranks / 2, ret = 0;

	for (int small = 1; ret == 0 && small < half; small *= 2)
		ret = make_split(like, profile, small, tell, context, err);
	return ret || !half ? ret : make_split(like, profile, half, tell, context, err);
}

double choice_win(const struct choice *choice)
{
	if (choice->best_cost > 0)
		return choice->block_cost / choice->best_cost;
	return choice->block_cost > 0 ? INFINITY : 1;
}

double choice_factor(const struct profile *profile, const struct prediction *prediction)
{
	double measured = profile_seconds(profile);

	return measured > 0 ? prediction->seconds / measured : 0;
}

bool choice_is_network_intensive(const struct choice *choice, const struct profile *profile,
				 const struct prediction *prediction)
{
	if (choice->by_threshold)
		return prediction->bytes > THRESHOLD * profile_seconds(profile);
	return choice_factor(profile, prediction) > TOLERABLE;
}
