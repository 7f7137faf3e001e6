/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps srun from binding a step's tasks to CPUs that are lent. slurmd binds tasks before any hook
 * on the node runs; a lent CPU makes that fail, and Slurm then calls the job completed. So srun
 * must settle it: it binds nothing, and each rank gets its share of the LWK's CPUs from lwkexec.
 */
#ifndef SPANK_COMMAND_CPU_BINDING_H
#define SPANK_COMMAND_CPU_BINDING_H

#include <slurm/spank.h>

/* Before srun reads its options: makes no binding the default. */
void cpu_binding_default(void);

/*
 * After srun has read its options: -1, and a message, when the user asked for a binding that no
 * LWK can have. With one that an LWK can have, srun starts again without it, and so it does all that it
 * has done until here once more.
 */
int cpu_binding_check(void);

/*
 * After cpu_binding_check(): a step that wants only some of the job's CPUs (--exact) shares all of
 * them with other steps instead, because Slurm can bind tasks only to CPUs that stay with Linux;
 * its programs wait for free LWK CPUs (LWK_WAIT, see lwkexec(1)). -1, and a message, when srun
 * refuses.
 */
int cpu_binding_share(void);

/*
 * In task_init: tells lwkexec which share of the LWK's CPUs the task's programs get (LWK_SHARE, see
 * lwkexec(1)). -1, and a message, when that fails.
 */
int cpu_binding_hand_over(spank_t sp);

#endif
