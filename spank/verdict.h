/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends a job over several nodes when one node cannot switch, with that node's reason; drains a node
 * that is not sound.
 */
#ifndef SPANK_VERDICT_H
#define SPANK_VERDICT_H

#include <stdint.h>

#include "modeswitch/error.h"

/*
 * Tells the other nodes, as root, on the node that cannot switch, before its prolog ends. slurmctld
 * keeps the reason with the job (AdminComment), where verdict_await() finds it. A job without a
 * batch script is ended here, and its srun or salloc is told the reason. A job with this node alone
 * is left to its tasks, which are refused anyway.
 */
void verdict_refuse(uint32_t job_id, const char *reason);

/*
 * Drains this node, as root, with the reason. Slurm would do so after a prolog or an epilog that
 * fails, and say only which of them it was; it leaves a reason alone that is there.
 */
void verdict_drain(uint32_t job_id, const char *reason);

/*
 * Waits, on the batch host before the script starts, until all of the job's nodes have switched. -1
 * when one could not, with its name and reason, or when the job ended meanwhile.
 */
int verdict_await(uint32_t job_id, struct ms_error *err);

#endif
