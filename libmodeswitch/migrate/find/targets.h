/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the processes whose memory is migrated: a process and its descendants, the processes of a
 * cgroup or of a job, all processes, or those that a selection names.
 */
#ifndef TARGETS_H
#define TARGETS_H

#include <stdbool.h>

#include "modeswitch/error.h"

struct migrate_process;
struct migration;

/* Adds processes that are not known yet. The number added, or -1. */
int targets_find(struct migration *migration, struct ms_error *err);
/* True when the process has ended; then its PID may be another's. */
bool target_gone(struct migrate_process *process);
void targets_free(struct migration *migration);

#endif
