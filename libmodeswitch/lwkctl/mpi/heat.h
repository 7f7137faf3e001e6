/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws who sends how much to whom: a row for each sender, a column for each receiver. */
#ifndef LWKCTL_MPI_HEAT_H
#define LWKCTL_MPI_HEAT_H

#include <stdio.h>

#include "lwkctl/mpi/profile.h"

/* Draws in letters; a cell stands for several ranks when there are many. */
void heat_print(const struct profile *profile, FILE *out);
/* Draws an SVG picture. 0; -1 with err. */
int heat_write_svg(const struct profile *profile, const char *path, struct ms_error *err);

#endif
