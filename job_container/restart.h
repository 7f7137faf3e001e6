/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slurmd that was started while CPUs are lent. */
#ifndef JOB_CONTAINER_RESTART_H
#define JOB_CONTAINER_RESTART_H

/*
 * slurmd looks at the machine's CPUs once, when it starts. What is lent it cannot
 * see, and until its next start it would give jobs other CPUs than Slurm means.
 * So this executes slurmd once more, in the same process, with the machine as it
 * was when nothing was lent. Returns when that has been done already, or cannot be.
 */
void restart_with_whole_machine(void);

#endif
