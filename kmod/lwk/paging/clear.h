/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clearing the partition's memory of what its last users left there. */
#ifndef LWK_PAGING_CLEAR_H
#define LWK_PAGING_CLEAR_H

#include "lwk/base/types.h"

/*
 * True when the contents of the memory are the user's own. A word of the kernel's command line says
 * so when an LWK of the same user had the partition just before.
 */
bool memory_is_own(void);
/*
 * Clears this CPU's share of the memory that the kernel has not used yet. No CPU may allocate any
 * before all have returned.
 */
void memory_clear(void);

#endif
