/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines a process of root that lives long: what it reads was written by programs of users, too.
 */
#ifndef LWKCTL_CONFINE_H
#define LWKCTL_CONFINE_H

#include <stdint.h>

#include "modeswitch/error.h"

#define CAPABILITY(cap) (UINT64_C(1) << (cap))

/*
 * From now on the process gets no new privileges, has no other capabilities, and can make only
 * these system calls (names with a blank between) and those of confine.c that every such process
 * makes; others fail with EPERM. It reads and writes root's files, and runs no program. 0 or -1.
 */
int confine(uint64_t capabilities, const char *calls, struct ms_error *err);

#endif
