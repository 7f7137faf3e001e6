/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running signal handlers. */
#ifndef LWK_SIGNALS_DELIVER_H
#define LWK_SIGNALS_DELIVER_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

/* A fault of the process itself, whose signal cannot be blocked or ignored. */
void signal_fault(struct frame *frame, int signal, int code, u64 addr);
/* Runs handlers for the signals that wait, or ends the process. */
void signal_deliver(struct frame *frame);
/* Has the program make the call again, after handlers have run; returns what its RAX shall be. */
s64 restart_call(struct frame *frame);

#endif
