/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash by which a profile is not taken for that of another program. */
#ifndef MPI_PROGRAM_H
#define MPI_PROGRAM_H

#include <stdint.h>

/*
 * Hashes the build id of this process's program; without one, its code. The same on each node and
 * in each run; never 0.
 */
uint64_t program_hash(void);

#endif
