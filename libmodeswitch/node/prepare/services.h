/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the system's services on CPUs and NUMA nodes of their own, and off those of jobs.
 * Never Slurm's slurmd and slurmstepd: jobs run below them.
 */
#ifndef SERVICES_H
#define SERVICES_H

#include <hwloc.h>
#include <stdbool.h>
#include <json-c/json.h>

#include "modeswitch/error.h"

/*
 * Returns the text of how it was done, or could be ('dry_run'), or NULL with the reason in *err.
 * 'changed': how many files and processes.
 *
 * With systemd by drop-ins below /run, for what runs and what is started later with cgroup
 * version 2, only for the latter with version 1. With version 1, or without systemd, by a cpuset
 * for the processes that run now.
 */
const char *services_keep(hwloc_const_bitmap_t cpus, hwloc_const_bitmap_t nodes, bool dry_run,
			  unsigned *changed, struct ms_error *err);

/* Takes all of that away, whether it is there or not. 0 or -1. */
int services_release(struct ms_error *err);

#endif
