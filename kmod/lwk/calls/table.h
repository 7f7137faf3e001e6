/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls. */
#ifndef LWK_CALLS_TABLE_H
#define LWK_CALLS_TABLE_H

#include "lwk/machine/frame.h"

/* entry.S calls it for each system call. */
void syscall(struct frame *frame);

#endif
