/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a process has in common with processes of Linux or of another LWK. */
#ifndef LWK_MEMORY_SHARE_H
#define LWK_MEMORY_SHARE_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

/* Has the proxy map a file at addr. 0; 1: its pages cannot be shared; or a negative error. */
s64 share_begin(u64 addr, u64 size, u32 prot, u64 flags, u64 fd, u64 offset);
/* Where pages from addr on are: returns how many could be had, at least 1, or a negative error. */
s64 share_pin(u64 addr, u64 count, bool writable, const __u64 **pages);
/* No CPU uses the pages of the range any more. */
void share_end(u64 addr, u64 size);
/* No CPU uses them now; they come anew with protection 'prot'. 0, or the error of mprotect(2). */
s64 share_protect(u64 addr, u64 size, u32 prot);

s64 sys_shmat(struct frame *frame);
s64 sys_shmdt(struct frame *frame);

#endif
