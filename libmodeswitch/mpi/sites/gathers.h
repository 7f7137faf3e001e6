/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gathers, for struct call's 'instead', as those of collectives.h. */
#ifndef MPI_GATHERS_H
#define MPI_GATHERS_H

#include <stdint.h>

int gathers_gather(const uint64_t *a);
int gathers_gatherv(const uint64_t *a);

#endif
