/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for signals. */
#ifndef LWK_SIGNALS_WAIT_H
#define LWK_SIGNALS_WAIT_H

#include "lwk/base/types.h"

/* Blocks other signals until signal_unsuspend(), or until signal_deliver() has run a handler. */
void signal_suspend(u64 mask);
void signal_unsuspend(void);
/* Sleeps until the proxy has passed a signal on, or until 'deadline' on the monotonic clock. */
void signal_wait_until(u64 deadline);

#endif
