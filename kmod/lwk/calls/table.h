/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls. */
#ifndef LWK_CALLS_TABLE_H
#define LWK_CALLS_TABLE_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

/* Fills the table. The first CPU calls this before there is any process. */
void calls_init(void);
/* Carries out the system call in the frame, called by entry.S. */
void syscall(struct frame *frame);
/* Names a refused call and the reason on the console, once for each call. Returns -ENOSYS. */
s64 refuse(u64 nr);

#endif
