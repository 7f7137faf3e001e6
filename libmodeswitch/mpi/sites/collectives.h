/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collective operations that cross between sites as seldom as can be, for struct call's 'instead'.
 * Each returns LIBRARY_S_WAY when it has done nothing, because the library's own way is faster or
 * the call is one that only the library can do; else what the MPI function returns. All ranks of a
 * communicator come to the same decision, so it depends on nothing that may differ among them.
 */
#ifndef MPI_COLLECTIVES_H
#define MPI_COLLECTIVES_H

#include <stdint.h>

#define LIBRARY_S_WAY (-1)

int collectives_barrier(const uint64_t *a);
int collectives_bcast(const uint64_t *a);
int collectives_allgather(const uint64_t *a);
int collectives_allgatherv(const uint64_t *a);

#endif
