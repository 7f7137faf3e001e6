/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reductions, for struct call's 'instead', as those of collectives.h. */
#ifndef MPI_REDUCTIONS_H
#define MPI_REDUCTIONS_H

#include <stdint.h>

int reductions_reduce(const uint64_t *a);
int reductions_allreduce(const uint64_t *a);

#endif
