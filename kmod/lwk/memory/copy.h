/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of a space, for another process. */
#ifndef LWK_MEMORY_COPY_H
#define LWK_MEMORY_COPY_H

#include "lwk/base/types.h"
#include "lwk/memory/space.h"

/*
 * Fills an empty space with a copy of what is in 'from', which is kept (space_keep()). 0; -ENOMEM;
 * -EINTR: stop() says so. After a failure the caller gives back the pages that 'to' has.
 */
int space_copy(struct space *to, struct space *from, bool (*stop)(void));

#endif
