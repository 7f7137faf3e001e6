/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks after LWK jobs when slurmd starts. */
#ifndef JOB_CONTAINER_RESTORE_H
#define JOB_CONTAINER_RESTORE_H

/*
 * Switches back the shares of jobs that ended while slurmd was away, and leaves every other job
 * alone. Returns at once when all recorded jobs still run here; otherwise it holds slurmd up for a
 * few seconds at most, and a process of its own goes on with what takes longer.
 */
void restore(const char *spool_directory);

#endif
