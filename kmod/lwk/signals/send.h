/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that a program sends, and those of its timers. */
#ifndef LWK_SIGNALS_SEND_H
#define LWK_SIGNALS_SEND_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

s64 sys_kill(struct frame *frame);
s64 sys_tkill(struct frame *frame);
s64 sys_tgkill(struct frame *frame);
s64 sys_rt_sigqueueinfo(struct frame *frame);
s64 sys_rt_tgsigqueueinfo(struct frame *frame);
s64 sys_timer_getoverrun(struct frame *frame);

#endif
