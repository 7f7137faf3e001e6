// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu_binding.h"

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * srun's parsed options, as Slurm's own cli_filter plugins see them. The same in
 * 20.11 to 26.05, but in no installed header.
 */
struct slurm_options;
extern struct slurm_options opt __attribute__((weak));
char *slurm_option_get(struct slurm_options *options, const char *name) __attribute__((weak));
int slurm_option_set(struct slurm_options *options, const char *name, const char *value, bool early)
	__attribute__((weak));
bool slurm_option_reset(struct slurm_options *options, const char *name) __attribute__((weak));

const char *binding_option(const char *name)
{
	return &opt && slurm_option_get ? slurm_option_get(&opt, name) : NULL;
}

void binding_default(void)
{
	setenv("SLURM_CPU_BIND", "none", 0);
}

int binding_check(void)
{
	const char *chosen = binding_option("cpu-bind");

	/* srun has no text left of "none". */
	if (!chosen || strstr(chosen, "none"))
		return 0;
	slurm_error(
		"lwk: --cpu-bind=%s (or SLURM_CPU_BIND) lets Slurm bind tasks to CPUs that Linux "
		"has lent to the job's LWK. Leave it out, or give --cpu-bind=none: each "
		"program gets an LWK CPU of its own.",
		chosen);
	return -1;
}

int binding_share(void)
{
	const char *exact = binding_option("exact");

	if (!exact || strcmp(exact, "set"))
		return 0;
	if (slurm_option_set && slurm_option_reset && slurm_option_reset(&opt, "exact") &&
	    slurm_option_set(&opt, "overlap", "", false) == 0 && setenv("LWK_WAIT", "1", 1) == 0)
		return 0;
	slurm_error(
		"lwk: --exact (or --exclusive, or --cpus-per-task) would bind this step to CPUs "
		"that Linux has lent to the job's LWK, and srun does not let it be changed. "
		"Leave it out, and give --overlap: each program gets an LWK CPU of its own.");
	return -1;
}
