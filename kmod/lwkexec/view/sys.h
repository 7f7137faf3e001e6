/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /sys/devices/system/cpu and node, and /proc/cpuinfo, as the LWK process sees them. Linux does not
 * have these CPUs while the LWK has them; the switch to the LWK has kept what Linux said of them in
 * a tree of files for each job (libmodeswitch/machine/sysview/sysview.h).
 */
#ifndef LWKEXEC_SYS_H
#define LWKEXEC_SYS_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "lwkexec/base/numbers.h"

/* True when 'path' is one of these files; then 'kept' is where the job's tree has it. */
bool sys_path(const char *path, char kept[PATH_MAX]);
/* Opens the tree's file for 'path' to read it. NULL: there is none. */
FILE *sys_open(const char *path);
/* The NUMA nodes that the LWK has memory of. False: they are not known. */
bool sys_nodes(struct numbers *nodes);

#endif
