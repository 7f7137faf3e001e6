/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for signals. */
#ifndef LWK_SIGNALS_WAIT_H
#define LWK_SIGNALS_WAIT_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

/* Blocks other signals until signal_unsuspend(), or until signal_deliver() has run a handler. */
void signal_suspend(u64 mask);
void signal_unsuspend(void);
/* Sleeps until the proxy has passed a signal on, or until 'deadline' on the monotonic clock. */
void signal_wait_until(u64 deadline);
s64 sys_rt_sigpending(struct frame *frame);
s64 sys_rt_sigtimedwait(struct frame *frame);
s64 sys_rt_sigsuspend(struct frame *frame);
s64 sys_pause(struct frame *frame);

#endif
