// SPDX-License-Identifier: GPL-2.0-or-later
#include "command/command_option.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The parsed options of srun, sbatch and salloc, as Slurm's own cli_filter plugins see them. They
 * are the same in 20.11 to 26.05, but in no installed header.
 */
struct slurm_options;
extern struct slurm_options opt __attribute__((weak));
char *slurm_option_get(struct slurm_options *options, const char *name) __attribute__((weak));
int slurm_option_set(struct slurm_options *options, const char *name, const char *value, bool early)
	__attribute__((weak));
bool slurm_option_reset(struct slurm_options *options, const char *name) __attribute__((weak));

const char *command_option(const char *name)
{
	return &opt && slurm_option_get ? slurm_option_get(&opt, name) : NULL;
}

int command_option_replace(const char *old, const char *new)
{
	return slurm_option_set && slurm_option_reset && slurm_option_reset(&opt, old) &&
			       slurm_option_set(&opt, new, "", false) == 0
		       ? 0
		       : -1;
}
