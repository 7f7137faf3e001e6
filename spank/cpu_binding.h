/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How srun binds a step's tasks beside CPUs that are the LWK's. slurmd binds
 * before any hook on the node runs; a CPU that is lent makes that fail, and Slurm
 * then calls the job completed. So it must be settled in srun.
 */
#ifndef SPANK_BINDING_H
#define SPANK_BINDING_H

/* What an option of srun, sbatch or salloc was given, by its name; or NULL. */
const char *binding_option(const char *name);

/* Before srun reads its options: no binding, unless the user asks for one. */
void binding_default(void);

/* After srun has read its options: -1, and a text, when the user asked for one. */
int binding_check(void);

/*
 * After that: a step that wants only some of the job's CPUs (--exact) shares all of them with
 * others instead, for only those that stay with Linux can be bound to; its programs wait for
 * free LWK CPUs (LWK_WAIT, see lwkexec). -1, and a text, when srun does not let us.
 */
int binding_share(void);

#endif
