/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a process has in common with processes of Linux or of another LWK. */
#ifndef LWK_MEMORY_SHARE_H
#define LWK_MEMORY_SHARE_H

#include "lwk/base/types.h"

/* Has the proxy map a file at addr. 0; 1: its pages cannot be shared; or a negative error. */
s64 share_begin(u64 addr, u64 size, u32 prot, u64 flags, u64 fd, u64 offset);
/*
 * Sets *pages to what Linux grants from addr on, as in struct lwk_grant, for an access of enum
 * lwk_grant_access. Returns how many there are, at least 1, or a negative error.
 */
s64 share_pin(u64 addr, u64 count, u32 access, const __u64 **pages);
/* Gives up the pages of the range, which no CPU uses any more. */
void share_end(u64 addr, u64 size);
/* Gives up all pages, which no CPU uses now; they come again when they are touched. */
void share_give_up(void);
/*
 * Gives up the pages of the range, which no CPU uses now; they come again with protection 'prot'.
 * 0, or the error of mprotect(2).
 */
s64 share_protect(u64 addr, u64 size, u32 prot);

/* Writes what the files that are mapped in [start, end) have in memory to their disks: msync(2). */
s64 share_sync(u64 start, u64 end);

#endif
