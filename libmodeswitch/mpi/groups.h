/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ranks behind a communicator or a window, as ranks of MPI_COMM_WORLD. */
#ifndef MPI_GROUPS_H
#define MPI_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/page.h"

struct group {
	uint64_t handle;
	int *world; /* the rank in MPI_COMM_WORLD of each rank, < 0: none; NULL: each is the same */
	int size;
	bool inter;	/* 'world' has the ranks of the other side */
	uint32_t place; /* in the page; PAGE_GROUPS: unknown */
};

/* Returns the group of a communicator; NULL without memory. Valid until groups_forget(). */
const struct group *groups_of_communicator(struct page *page, uint64_t handle);
/* Returns the group of a window likewise. */
const struct group *groups_of_window(struct page *page, uint64_t handle);
/* Forgets a handle that the program is about to free: MPI gives its number to another one. */
void groups_forget(uint64_t handle);

#endif
