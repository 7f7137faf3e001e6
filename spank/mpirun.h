/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings with which Open MPI's mpirun starts its ranks on the LWK. It forks those of its own node
 * by itself, where srun and the SPANK plugin do not see them.
 */
#ifndef SPANK_MPIRUN_H
#define SPANK_MPIRUN_H

#include <slurm/spank.h>
#include <stdbool.h>

/*
 * In task_init: gives the settings to a task that runs on Linux, unless the user has set them
 * otherwise, and takes them away from one that runs on the LWK.
 */
void mpirun_prepare(spank_t sp, bool on_linux);

/* In srun, sbatch and salloc: forgets settings that come from the LWK job around it. */
void mpirun_forget(void);

#endif
