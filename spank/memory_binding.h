/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Slurm's --mem-bind says about the LWK's memory. */
#ifndef SPANK_MEMORY_BINDING_H
#define SPANK_MEMORY_BINDING_H

#include <slurm/spank.h>

/*
 * In sbatch, salloc and srun when all options are known: hands it to the prolog, which
 * Slurm tells nothing of it. -1 when an LWK cannot have such a binding; the user has
 * been told then.
 */
int memory_binding_hand_over(spank_t sp);

/*
 * In the prolog: the same as --lwk-numa would have it; NULL when there is none. It
 * comes from the user and has been checked by nobody.
 */
const char *memory_binding(void);

#endif
