/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that wait. */
#ifndef LWK_SIGNALS_PENDING_H
#define LWK_SIGNALS_PENDING_H

#include "abi/shared/channel.h"
#include "lwk/base/types.h"

struct process;
struct queued;

/* Kernel pages that a process may have for pending signals. */
#define QUEUED_PAGES 4
/* Further ones of a timer are not counted. */
#define MOST_OVERRUNS 0x7fffffffUL

/* Signals that wait, each as often as it will be taken. */
struct pending {
	u64 set; /* bit s-1: signal s */
	struct queued *first;
};

/*
 * One more signal waits for this process or thread, unless that changes nothing: of those below
 * SIGRTMIN the first one stays. -EAGAIN: no room is left for the information that it has.
 */
s64 pending_add(struct pending *pending, const struct lwk_signal *signal);
/* Takes the first one of that number; false: there is none. */
bool pending_take(struct pending *pending, int signal, struct lwk_signal *taken);
/* Forgets those whose bits are set. */
void pending_drop(struct pending *pending, u64 set);
/* Frees what the signals of a process that has ended were kept in. */
void pending_end(struct process *process);

#endif
