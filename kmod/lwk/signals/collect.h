/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals on their way from the proxy to the thread that takes them. */
#ifndef LWK_SIGNALS_COLLECT_H
#define LWK_SIGNALS_COLLECT_H

#include "abi/shared/channel.h"
#include "lwk/base/types.h"
#include "lwk/process/slot.h"

/* Moves what the proxy has passed on into 'pending'. */
void signal_collect(void);
/* signal_collect() for signals before 'end'; those for the last thread of this slot are lost. */
void signal_collect_late(u32 end);
/*
 * Gives the process a signal: another thread gets it if this one blocks it and the other does not.
 * 0 or -EAGAIN.
 */
s64 signal_add_to_process(const struct lwk_signal *signal);
/* The signals that wait for this thread or for any of its process. */
u64 signal_all_pending(void);
/* Takes a pending signal of that number; false: there is none. */
bool signal_take(int signal, struct lwk_signal *taken);
/* Gives pending signals of the set to the proxy, whose thread leaves them with Linux. */
void signal_hand_down(u64 set);
/* To be called when signals that the thread blocks, and a descriptor tells of, may be others. */
void signal_hold(void);
/* True when a signal waits that ends the process or runs a handler. */
bool signal_effective(void);

/* True when a signal waits that the slot's thread does not block. */
static inline bool signal_waiting(const struct slot *slot)
{
	return (READ_ONCE(slot->thread.pending.set) | READ_ONCE(slot->process->pending.set)) &
	       ~slot->thread.blocked;
}

#endif
