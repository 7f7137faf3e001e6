/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps srun from binding a step's tasks to CPUs that are lent. slurmd binds tasks before any hook
 * on the node runs; a lent CPU makes that fail, and Slurm then calls the job completed. So srun
 * must settle it.
 */
#ifndef SPANK_COMMAND_CPU_BINDING_H
#define SPANK_COMMAND_CPU_BINDING_H

/* Before srun reads its options: makes no binding the default. */
void cpu_binding_default(void);

/* After srun has read its options: -1, and a message, when the user asked for a binding. */
int cpu_binding_check(void);

/*
 * After cpu_binding_check(): a step that wants only some of the job's CPUs (--exact) shares all of
 * them with other steps instead, because Slurm can bind tasks only to CPUs that stay with Linux;
 * its programs wait for free LWK CPUs (LWK_WAIT, see lwkexec(1)). -1, and a message, when srun
 * refuses.
 */
int cpu_binding_share(void);

#endif
