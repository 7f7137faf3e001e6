/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes as Slurm writes them: lists of names, numbers of tasks, the switches above the nodes. */
#ifndef LWKCTL_MPI_HOSTS_H
#define LWKCTL_MPI_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lwkctl/mpi/place.h"

/* Returns the length of the first item of "a[1,3],b": commas within brackets divide nothing. */
size_t hosts_item(const char *list);
/*
 * Calls tell() for each name that the item "n[01-03,7]" stands for, until that returns false.
 * False: it did, or the item is none.
 */
bool hosts_expand(const char *item, size_t length, bool (*tell)(const char *name, void *context),
		  void *context);
/* Sets the slots of the nodes to the numbers of "4(x2),1". False when they are not n numbers. */
bool hosts_slots(const char *text, struct place_node *nodes, size_t n);
/*
 * Sets the sites of the nodes by the lowest switches in what 'scontrol show topology' prints, and
 * puts nodes of one site together.
 */
void hosts_sites(const char *topology, struct place_node *nodes, size_t n);
/* Finds the sites by the topology that Slurm has now; without one all nodes are on one site. */
void hosts_ask_sites(struct place_node *nodes, size_t n);

#endif
