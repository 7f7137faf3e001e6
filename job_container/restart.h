/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restarts a slurmd that was started while CPUs are lent. */
#ifndef JOB_CONTAINER_RESTART_H
#define JOB_CONTAINER_RESTART_H

/*
 * slurmd looks at the machine's CPUs once, when it starts. It cannot see lent CPUs, and until its
 * next start it would give jobs other CPUs than Slurm means. So this call executes slurmd once more
 * in the same process, with the topology of the machine when nothing was lent. It returns when that
 * has been done already, or cannot be done.
 */
void restart_with_whole_machine(void);

#endif
