/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step's tasks: refusing them, or putting them on the LWK. Called in this
 * order; task_look() once in slurmstepd, the others in each task's process, which
 * inherits what it found.
 */
#ifndef SPANK_TASK_H
#define SPANK_TASK_H

#include <slurm/spank.h>

/*
 * Reads the job's record. What speaks against running is told here, where the
 * user reads it once per node and no task can be killed before it speaks. It
 * always returns 0: Slurm would call a job completed whose user_init failed.
 */
int task_look(spank_t sp);

/* -1 when the task must not run: Slurm fails the job and leaves the node alone. */
int task_refuse(void);

/*
 * In slurmstepd as root, before the task goes on: limits it. A task that must not run without
 * limits is killed, and the user told why; Slurm would drain the node for a failure here.
 */
int task_limit(spank_t sp);

/* There, when a task has ended: tells the user when a limit of memory has killed proxies. */
int task_ended(spank_t sp);

/* Puts lwkexec in front of the user's program. As the user. */
int task_launch(spank_t sp);

#endif
