/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places where the ranks of a profile could be, and the cost of a link between the sites there.
 */
#ifndef LWKCTL_MPI_CHOICE_H
#define LWKCTL_MPI_CHOICE_H

#include <stdbool.h>

#include "lwkctl/mpi/place.h"
#include "lwkctl/mpi/predict.h"

#define CHOICE_NODES_MAX 4096

/* Block and the best placement that was found, on nodes. */
struct choice {
	struct link link;
	bool by_threshold; /* class by the bytes that cross a second, not by predicted time */
	struct place_node nodes[CHOICE_NODES_MAX];
	size_t n_nodes;
	int *block, *best; /* the node of each rank */
	double block_cost, best_cost;
	struct prediction at_block, at_best;
};

/*
 * Reads "3,1", ranks of each site, as a node for each site; NULL: two halves. False after a message
 * on standard error.
 */
bool choice_split(struct choice *choice, const char *text, int ranks);
/*
 * Reads "a:4,b[1-2]:4;c:4", nodes with their slots and ';' between sites; without one, sites are
 * those of Slurm's topology. 'slots' has the slots of the nodes, such as "4(x2),1", if it is not
 * NULL. Nodes without a number share the rest evenly. False after a message on standard error.
 */
bool choice_nodes(struct choice *choice, const char *text, const char *slots, int ranks);
/*
 * Places the ranks and predicts their time. 0 or -1; the caller releases the choice in both cases.
 */
int choice_make(struct choice *choice, const struct profile *profile, struct ms_error *err);
/*
 * Calls tell() with a choice for each way to split the ranks over two sites, if the smaller one has
 * 1, 2, 4 ... ranks or half of them; over the link of 'like'. 0 or -1.
 */
int choice_each_split(const struct choice *like, const struct profile *profile,
		      void (*tell)(const struct choice *choice, const struct profile *profile,
				   void *context),
		      void *context, struct ms_error *err);
/* Frees the choice, which the caller has from calloc(), and its arrays. */
void choice_release(struct choice *choice);

/*
 * The cost of block by that of the best placement; 1: nothing to win; infinity: the best costs
 * nothing.
 */
double choice_win(const struct choice *choice);
/* The predicted time by the measured one; 0: nothing was measured. */
double choice_factor(const struct profile *profile, const struct prediction *prediction);
bool choice_is_network_intensive(const struct choice *choice, const struct profile *profile,
				 const struct prediction *prediction);

#endif
