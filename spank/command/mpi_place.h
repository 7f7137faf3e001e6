/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --mpi-place puts the ranks of a step on the nodes that a profile of the program suggests. */
#ifndef SPANK_COMMAND_MPI_PLACE_H
#define SPANK_COMMAND_MPI_PLACE_H

#include "modeswitch/error.h"

/*
 * In srun, while it reads its options: has it lay out the step by a list of nodes, one for each
 * rank of the profile. -1 with *err.
 */
int mpi_place_choose(const char *profile, struct ms_error *err);
/* In srun, when it has read them: -1, and a message, when they contradict that. */
int mpi_place_check(void);

#endif
