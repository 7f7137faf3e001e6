/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job over several nodes: one that cannot switch fails it on all, with its reason. */
#ifndef SPANK_VERDICT_H
#define SPANK_VERDICT_H

#include <stdint.h>

#include "modeswitch/error.h"

/*
 * On the node that cannot switch, as root, before its prolog ends. Slurmctld keeps
 * the reason with the job (AdminComment), where verdict_await() finds it. A job
 * without a batch script is ended here: its srun or salloc is told the reason. A
 * job that has but this node is left to its tasks, which are refused here anyway.
 */
void verdict_refuse(uint32_t job_id, const char *reason);

/*
 * On the batch host, before the script starts: waits until all of the job's nodes
 * have switched. -1 when one could not, with its name and reason, or when the job
 * ended meanwhile.
 */
int verdict_await(uint32_t job_id, struct ms_error *err);

#endif
