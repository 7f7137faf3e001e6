/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's own options, as given to this srun, sbatch or salloc. */
#ifndef SPANK_COMMAND_OPTION_H
#define SPANK_COMMAND_OPTION_H

/* The argument of an option, by the option's name without "--"; NULL when it was not given. */
const char *command_option(const char *name);

/*
 * Takes back the option 'old' and gives the option 'new', which has no argument. -1 when this Slurm
 * does not let a plugin do so.
 */
int command_option_replace(const char *old, const char *new);

#endif
