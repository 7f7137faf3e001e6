/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers of the LWK process that send their signals to one thread (SIGEV_THREAD_ID, and so libc's
 * SIGEV_THREAD). Linux's siginfo_t does not say so, and the proxy passes signals on accordingly.
 */
#ifndef LWKEXEC_TIMERS_H
#define LWKEXEC_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/shared/channel.h"

/* Carry out timer_create(2) and timer_delete(2): the result or a negative errno. */
int64_t timers_create(const struct lwk_packet *request);
int64_t timers_delete(const struct lwk_packet *request);
/* True when the timer sends its signals to one thread. Async-signal-safe. */
bool timers_for_thread(int id);
/* Must be called in a forked child, which has no timers. */
void timers_renew(void);

#endif
