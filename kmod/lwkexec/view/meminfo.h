/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/meminfo and the meminfo files of NUMA nodes, with the LWK's memory. */
#ifndef LWKEXEC_MEMINFO_H
#define LWKEXEC_MEMINFO_H

#include <stdbool.h>
#include <stdint.h>

/* True when 'path' is one of these files; then *result is the result of open(2). */
bool meminfo_open(const char *path, int flags, int64_t *result);

#endif
