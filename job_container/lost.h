/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job whose prolog ends while slurmd is away is lost: nobody tells slurmctld of the prolog's end,
 * and slurmctld waits for it until it asks the node for its jobs, which can take half an hour.
 */
#ifndef JOB_CONTAINER_LOST_H
#define JOB_CONTAINER_LOST_H

#include <stdint.h>

/* Requeues the job if it is a batch job, otherwise ends it and tells its srun or salloc why. */
void lost_prolog(uint32_t job_id);

#endif
