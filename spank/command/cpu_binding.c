// SPDX-License-Identifier: GPL-2.0-or-later
#include "command/cpu_binding.h"

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command/command_option.h"

void cpu_binding_default(void)
{
	setenv("SLURM_CPU_BIND", "none", 0);
}

/* srun keeps only the numbers of map_cpu, mask_cpu, map_ldom and mask_ldom. */
static bool is_list(const char *chosen)
{
	return chosen[strspn(chosen, "0123456789abcdefABCDEFx,*")] == '\0';
}

int cpu_binding_check(void)
{
	const char *chosen = command_option("cpu-bind");

	/* srun keeps no text of "none". */
	if (!chosen || strstr(chosen, "none"))
		return 0;
	slurm_error(
		"lwk: --cpu-bind=%s%s (or SLURM_CPU_BIND) would bind tasks to CPUs that Linux has "
		"lent to the job's LWK; leave it out, or give --cpu-bind=none: each program gets "
		"an LWK CPU of its own",
		is_list(chosen) ? "map_cpu, mask_cpu, map_ldom or mask_ldom:" : "", chosen);
	return -1;
}

int cpu_binding_share(void)
{
	const char *exact = command_option("exact");

	if (!exact || strcmp(exact, "set"))
		return 0;
	if (command_option_replace("exact", "overlap") == 0 && setenv("LWK_WAIT", "1", 1) == 0)
		return 0;
	slurm_error(
		"lwk: --exact (or --exclusive, or --cpus-per-task) would bind this step to CPUs "
		"that Linux has lent to the job's LWK, and this srun does not let the plugin "
		"change that; leave it out, and give --overlap: each program gets an LWK CPU of "
		"its own");
	return -1;
}
