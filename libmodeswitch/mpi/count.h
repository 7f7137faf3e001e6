/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting functions of the wrappers, for struct call's 'before' and 'after'. */
#ifndef MPI_COUNT_H
#define MPI_COUNT_H

#include "mpi/wrapper.h"

/* A message or an access to a window: to 'peer', 'count' of 'type'. */
void count_message(struct call *call, const uint64_t *a, uint64_t ticks);
/* Bytes that this rank gives to a collective operation: 'count' of 'type', unless in place. */
void count_collective(struct call *call, const uint64_t *a, uint64_t ticks);
/* The same with an array of counts, one for each rank. */
void count_vector(struct call *call, const uint64_t *a, uint64_t ticks);
/* The same with an array of types too. */
void count_types_vector(struct call *call, const uint64_t *a, uint64_t ticks);
/* A persistent request, or an array of them, begins. */
void count_start(struct call *call, const uint64_t *a, uint64_t ticks);
void count_start_all(struct call *call, const uint64_t *a, uint64_t ticks);
/* Call these before the program frees a handle. */
void count_free(const struct call *call, const uint64_t *a);
void count_free_request(const struct call *call, const uint64_t *a);

/* The page of this rank while it is counted into; NULL: nothing is. */
extern struct page *count_page;
/* True when several threads may call MPI at the same time. */
extern bool count_threads;

#endif
