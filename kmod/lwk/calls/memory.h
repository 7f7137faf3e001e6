/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls about memory. */
#ifndef LWK_CALLS_MEMORY_H
#define LWK_CALLS_MEMORY_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

s64 sys_mmap(struct frame *frame);
s64 sys_munmap(struct frame *frame);
s64 sys_mprotect(struct frame *frame);
s64 sys_pkey_alloc(struct frame *frame);
s64 sys_pkey_free(struct frame *frame);
s64 sys_pkey_mprotect(struct frame *frame);
s64 sys_move_pages(struct frame *frame);
s64 sys_brk(struct frame *frame);
s64 sys_mremap(struct frame *frame);
s64 sys_mincore(struct frame *frame);
s64 sys_msync(struct frame *frame);
s64 sys_madvise(struct frame *frame);
s64 sys_sysinfo(struct frame *frame);

#endif
