/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the system's services on CPUs and NUMA nodes of their own, and off those of jobs. Slurm's
 * slurmd and slurmstepd stay free, because jobs run below them.
 */
#ifndef SERVICES_H
#define SERVICES_H

#include <hwloc.h>
#include <stdbool.h>
#include <json-c/json.h>

#include "modeswitch/error.h"

/*
 * Binds services to these CPUs and NUMA nodes; 'dry_run' only tells how. Returns a text that says
 * how, or NULL with the reason in *err. *changed: the number of files and processes changed.
 *
 * With systemd, drop-ins below /run bind the services that are started later, and with cgroup
 * version 2 also those that run. With version 1, or without systemd, a cpuset binds the processes
 * that run now.
 */
const char *services_keep(hwloc_const_bitmap_t cpus, hwloc_const_bitmap_t nodes, bool dry_run,
			  unsigned *changed, struct ms_error *err);

/* Removes the drop-ins and the cpuset, whether they are there or not. 0 or -1. */
int services_release(struct ms_error *err);

#endif
