/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls. */
#ifndef LWK_CALLS_TABLE_H
#define LWK_CALLS_TABLE_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

/* The first CPU calls it before there is any process. */
void calls_init(void);
/* entry.S calls it for each system call. */
void syscall(struct frame *frame);
/* Names a refused call and the reason on the console, once for each call. Returns -ENOSYS. */
s64 refuse(u64 nr);

#endif
