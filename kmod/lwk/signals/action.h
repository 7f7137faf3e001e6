/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The action of a process for each signal, and the signals that its threads block. */
#ifndef LWK_SIGNALS_ACTION_H
#define LWK_SIGNALS_ACTION_H

#include "lwk/base/types.h"

struct process;

/* struct sigaction of <asm/signal.h>, with addresses as numbers. */
struct signal_action {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

/* SIG_DFL and SIG_IGN of <asm/signal.h> are pointers to functions; handlers are numbers here. */
#define HANDLER_DEFAULT 0
#define HANDLER_IGNORE 1

/* True when the signal is ignored, by the process's choice or by default. */
bool signal_ignored(const struct process *process, int signal);
/*
 * Linux keeps what is ignored while it is blocked, for rt_sigtimedwait(2). The proxy does not block
 * it, and must be asked to pass it on.
 */
void signal_ask_for_ignored(u64 blocked);

#endif
