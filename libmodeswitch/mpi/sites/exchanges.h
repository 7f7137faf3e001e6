/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collective operations in which each pair of ranks has bytes of its own: what crosses is the same
 * in each way, but all of it can cross at once. For struct call's 'instead'; collectives.h says what
 * they return.
 */
#ifndef MPI_EXCHANGES_H
#define MPI_EXCHANGES_H

#include <stdint.h>

int exchanges_alltoall(const uint64_t *a);
int exchanges_alltoallv(const uint64_t *a);

#endif
