/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of a space, for another process. */
#ifndef LWK_MEMORY_COPY_H
#define LWK_MEMORY_COPY_H

#include "lwk/base/types.h"
#include "lwk/memory/space.h"

/*
 * Fills an empty space with what is in 'from', the space of this process, which is kept
 * (space_keep()). Both have the same pages until one of them writes. 0; -ENOMEM: 'to' may have some
 * of it.
 */
int space_copy(struct space *to, struct space *from);

#endif
