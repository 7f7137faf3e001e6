/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switches a job's share of the node on and off. Root, once per job and node, before and after the
 * job.
 */
#ifndef SPANK_PROLOG_H
#define SPANK_PROLOG_H

#include <slurm/spank.h>

/*
 * Switches the job's share of the node to LWK mode when the job asks for it. A job that cannot
 * have LWK mode is not failed here, because Slurm would drain the node and requeue the job: the
 * reason is recorded, and task_refuse() refuses the tasks with it. -1 only when the node is no
 * longer sound and should be drained.
 */
int prolog_switch_on(spank_t sp);

/* Switches back, whatever the job asked for. -1 when something stays lent. */
int prolog_switch_off(spank_t sp);

#endif
