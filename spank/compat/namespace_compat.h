/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides what differs between releases of Slurm in the interface of its namespace plugins, which
 * were job_container plugins before 25.11: job_container/ defines the newest release's entry points
 * that it has a use for, and namespace_compat.c gives them the names and arguments of older
 * releases, and defines all others. Only headers in Slurm's own source declare them.
 */
#ifndef SPANK_COMPAT_NAMESPACE_COMPAT_H
#define SPANK_COMPAT_NAMESPACE_COMPAT_H

#include <stdbool.h>
#include <sys/types.h>

#include "compat/slurm_compat.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define COMPAT_PLUGIN_KIND "namespace"
#else
#define COMPAT_PLUGIN_KIND "job_container"
#endif

/* Moves the calling process to the job's namespaces. */
int namespace_p_join(slurm_step_id_t *step_id, uid_t uid, bool step_create);
/* slurmd starts. */
int namespace_p_restore(char *directory, bool recover);

#endif
