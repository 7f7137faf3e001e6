/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One page of addresses for each CPU, to look at a page of Linux's through. */
#ifndef LWK_PAGING_PEEPHOLE_H
#define LWK_PAGING_PEEPHOLE_H

#include "lwk/base/types.h"
#include "lwk/memory/space.h"

/* Adds the peepholes to the kernel's own tables, before any other space has a copy of these. */
void peephole_setup(struct space *kernel);
/* Returns this CPU's address of a page that the direct map does not have. */
void *peephole_open(u64 phys, bool write);
void peephole_close(void);

#endif
