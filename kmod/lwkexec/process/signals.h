/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that reach the proxy are meant for the LWK process: they are passed on, and the LWK
 * decides what they do. Only signals that stop and continue act on the proxy, unless the process
 * handles them. A set of signals is a word: bit s-1 is signal s.
 */
#ifndef LWKEXEC_SIGNALS_H
#define LWKEXEC_SIGNALS_H

#include <stdint.h>

#include "abi/shared/channel.h"

/* The signals that the proxy's parent has it ignore. */
uint64_t signals_inherited(void);
/* Handles all signals from now on. Those in 'ignored' are ignored on the LWK, too; returns them. */
uint64_t signals_init(uint64_t ignored);
/* The signals that the LWK process ignores. */
uint64_t signals_ignored(void);
/* LWK_CALL_SIGNAL_ACTION: the LWK process has changed its action. */
void signals_action(int signal, int action);
/* LWK_CALL_SIGNAL: 0 or a negative errno. */
int64_t signals_send(const uint64_t args[6]);
/*
 * Gives signals that the LWK has not taken back to Linux, which keeps them while they are blocked.
 * All signals must be blocked.
 */
void signals_keep(void);
/*
 * Unblocks all signals of the calling thread, unless its channel has no room for one, and except
 * for those that stay with Linux.
 */
void signals_unblock(void);
/* LWK_CALL_SIGNALS_TAKEN */
void signals_taken(void);
/*
 * signalfd(2): Linux's result. The descriptor's signals stay with Linux while they are blocked.
 */
int64_t signals_describe(const struct lwk_packet *request);
/* LWK_CALL_SIGNALS_HELD */
int64_t signals_hold(uint64_t set);
/* Must be called in a forked child that has its channel. */
void signals_renew(void);
/* Ends the proxy as the LWK process has ended; 'wait_status' is as wait(2) has it. */
void signals_end(int wait_status) __attribute__((noreturn));

#endif
