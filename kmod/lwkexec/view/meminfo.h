/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/meminfo, the meminfo files of NUMA nodes and sysinfo(2), with the LWK's memory. */
#ifndef LWKEXEC_MEMINFO_H
#define LWKEXEC_MEMINFO_H

#include <stdbool.h>
#include <stdint.h>

/* True when 'path' is one of these files; then *result is the result of open(2). */
bool meminfo_open(const char *path, int flags, int64_t *result);
/* sysinfo(2), which stores at address 'to'. 0 or -EFAULT. */
int64_t meminfo_sysinfo(uint64_t to);

#endif
