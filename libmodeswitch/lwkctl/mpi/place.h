/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places the ranks of an MPI program: those that talk much with each other, close together. */
#ifndef LWKCTL_MPI_PLACE_H
#define LWKCTL_MPI_PLACE_H

#include <stddef.h>

/* A node of an allocation, with room for so many ranks. Nodes of one site stand together. */
struct place_node {
	char name[256];
	int slots;
	int site;
	/*
	 * NUMA nodes in it, if more than one counts. With a list of hosts Slurm binds the ranks of a
	 * node to them in turn, in the ranks' order.
	 */
	int numa;
};

/*
 * Weights of what pairs of ranks send to each other, n × n and symmetric; the diagonal is 0.
 * Between sites a unit costs PLACE_SITE_COST times what it costs between nodes of one site, and
 * between NUMA nodes PLACE_NUMA_COST of that.
 */
#define PLACE_SITE_COST 1000.0
#define PLACE_NUMA_COST 0.001

/* The cost of a placement; node[rank] is a place in 'nodes'. */
double place_cost(const double *weights, int n, const struct place_node *nodes, const int *node);

/* Fills the nodes one after another, as Slurm's block distribution does. */
void place_block(int n, const struct place_node *nodes, size_t n_nodes, int *node);

/*
 * Chooses a node for each of n ranks, never a costlier placement than place_block()'s. The nodes
 * have n slots or more; a node's first slots are filled first. 0; -1 without memory.
 */
int place_ranks(const double *weights, int n, const struct place_node *nodes, size_t n_nodes,
		int *node);

#endif
