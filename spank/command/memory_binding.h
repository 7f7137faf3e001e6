/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translates Slurm's --mem-bind into --lwk-numa. */
#ifndef SPANK_COMMAND_MEMORY_BINDING_H
#define SPANK_COMMAND_MEMORY_BINDING_H

#include <slurm/spank.h>

/*
 * In sbatch, salloc and srun when all options are known: hands --mem-bind to the prolog, because
 * Slurm does not. -1, and a message, when an LWK cannot have such a binding.
 */
int memory_binding_hand_over(spank_t sp);

/*
 * In the prolog: the argument of --lwk-numa that stands for --mem-bind; NULL when there is none. It
 * comes from the user and nobody has checked it.
 */
const char *memory_binding(void);

#endif
