/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Refuses a step's tasks, or puts them on the LWK. The calls come in this order: task_look() once
 * in slurmstepd, the others for each task, whose process inherits what task_look() found.
 */
#ifndef SPANK_TASK_H
#define SPANK_TASK_H

#include <slurm/spank.h>

/*
 * Reads the job's record. A reason against running is told here, where the user reads it once per
 * node and no task can be killed before it speaks. Always returns 0: Slurm would call a job
 * completed whose user_init failed.
 */
int task_look(spank_t sp);

/* -1 when the task must not run: Slurm fails the job and leaves the node alone. */
int task_refuse(void);

/*
 * Names the nodes in the task's cpuset, also in a Linux-only job, and limits the task in an LWK job;
 * in slurmstepd as root, before the task goes on. A task that must not run without limits is killed,
 * and the user is told why; Slurm would drain the node for a failure here.
 */
int task_limit(spank_t sp);

/*
 * In slurmstepd, when a task has ended: tells the user when a limit of memory has killed proxies,
 * and where the dump of a failed LWK is.
 */
int task_ended(spank_t sp);

/* Puts lwkexec in front of the user's program. Runs as the user. */
int task_launch(spank_t sp);

#endif
