/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile of a rank, and what it knows of sites, from MPI_Init to MPI_Finalize. */
#ifndef MPI_SESSION_H
#define MPI_SESSION_H

#include "mpi/wrapper.h"

/* After MPI_Init and MPI_Init_thread: begins when the environment asks for a profile. */
void session_begin(struct call *call, const uint64_t *a, uint64_t ticks);
void session_begin_threads(struct call *call, const uint64_t *a, uint64_t ticks);
/* Before MPI_Finalize: rank 0 collects what the ranks have counted, and writes the file. */
void session_end(const struct call *call, const uint64_t *a);
/* Before the program frees a communicator. */
void session_forget(const struct call *call, const uint64_t *a);

#endif
