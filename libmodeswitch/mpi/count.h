/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting functions of the wrappers, for struct call's 'before' and 'after'. */
#ifndef MPI_COUNT_H
#define MPI_COUNT_H

#include "mpi/wrapper.h"

/* Counts a message or an access to a window: to 'peer', 'count' elements of 'type'. */
void count_message(struct call *call, const uint64_t *a, uint64_t ticks);
/* Counts a receive, or its beginning, of which only the turns are counted. */
void count_receive(struct call *call, const uint64_t *a, uint64_t ticks);
/* Counts that a rank has waited for requests; 'count' is the flag of a test. */
void count_completion(struct call *call, const uint64_t *a, uint64_t ticks);
/* Counts what this rank gives to a collective operation: 'count' elements, unless in place. */
void count_collective(struct call *call, const uint64_t *a, uint64_t ticks);
/* Counts a collective operation with an array of counts, one for each rank. */
void count_vector(struct call *call, const uint64_t *a, uint64_t ticks);
/* Counts a collective operation with arrays of counts and of types. */
void count_types_vector(struct call *call, const uint64_t *a, uint64_t ticks);
/* Count the start of a persistent request, or of an array of them. */
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
