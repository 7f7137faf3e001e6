/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --mpi-profile and --mpi-collectives put liblwkmpi.so in front of a step's programs. When ranks
 * were killed, the plugin saves what they have counted.
 */
#ifndef SPANK_MPI_PROFILE_H
#define SPANK_MPI_PROFILE_H

#include <stdint.h>
#include <slurm/spank.h>

/* In task_init_privileged: makes the directory in which the ranks of this step have their pages. */
void mpi_profile_directory(spank_t sp);
/* In task_init: sets the task's environment. */
void mpi_profile_prepare(spank_t sp);
/* In task_exit: after the step's last task on this node, saves what is left and removes it. */
void mpi_profile_ended(spank_t sp);
/* In the epilog: does the same for steps of the job whose slurmstepd was killed. */
void mpi_profile_job_ended(uint32_t job_id);

#endif
