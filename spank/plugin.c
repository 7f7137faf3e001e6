// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The SPANK plugin's entry points, in the order in which Slurm calls them. They run in different
 * processes: srun, sbatch or salloc; the root process that slurmd starts before and after a job on
 * a node; a step's slurmstepd.
 */
#include <slurm/spank.h>

#include "command/cpu_binding.h"
#include "command/memory_binding.h"
#include "command/mpi_place.h"
#include "mpi_profile.h"
#include "options.h"
#include "prolog.h"
#include "task.h"

SPANK_PLUGIN(lwk, 1)

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	int ret = options_register(sp);

	if (options_maybe_lwk_step())
		cpu_binding_default();
	return ret;
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	spank_context_t context = spank_context();

	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR)
		return 0;
	if (options_check() < 0 || mpi_place_check() < 0 ||
	    (options_lwk_step() && (cpu_binding_check() < 0 || cpu_binding_share() < 0)))
		return -1;
	/* An explicit --lwk-numa wins over --mem-bind. */
	return options_allocation() && !options_numa_given() ? memory_binding_hand_over(sp) : 0;
}

int slurm_spank_job_prolog(spank_t sp, int ac, char **av)
{
	return prolog_switch_on(sp);
}

int slurm_spank_user_init(spank_t sp, int ac, char **av)
{
	return task_look(sp);
}

int slurm_spank_task_init_privileged(spank_t sp, int ac, char **av)
{
	mpi_profile_directory(sp);
	return task_refuse();
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	mpi_profile_prepare(sp);
	return task_launch(sp);
}

int slurm_spank_task_post_fork(spank_t sp, int ac, char **av)
{
	return task_limit(sp);
}

int slurm_spank_task_exit(spank_t sp, int ac, char **av)
{
	mpi_profile_ended(sp);
	return task_ended(sp);
}

int slurm_spank_job_epilog(spank_t sp, int ac, char **av)
{
	return prolog_switch_off(sp);
}
