/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls about what a process is. */
#ifndef LWK_CALLS_IDENTITY_H
#define LWK_CALLS_IDENTITY_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

s64 sys_getpid(struct frame *frame);
s64 sys_gettid(struct frame *frame);
s64 sys_uname(struct frame *frame);
s64 sys_arch_prctl(struct frame *frame);
s64 sys_prctl(struct frame *frame);
s64 sys_exit_group(struct frame *frame);

#endif
