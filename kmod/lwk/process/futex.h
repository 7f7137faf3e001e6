/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that wait for each other (futex(2)). */
#ifndef LWK_PROCESS_FUTEX_H
#define LWK_PROCESS_FUTEX_H

#include "lwk/base/types.h"
#include "lwk/process/thread.h"

struct slot;

/*
 * A thread that waits. It is in the thread's slot and not on its stack, because other threads find
 * it in a list, and a thread may give up its stack at any moment (process_abandon()).
 */
struct waiter {
	struct waiter *next;
	struct slot *slot;
	u64 addr;
	u32 bitset;
	u32 woken; /* 1: it has left the list */
};

/* Wakes up to 'count' threads that wait at addr; returns how many. */
u64 futex_wake(u64 addr, u64 count, u32 bitset);
/* Gives the futexes that a thread leaves locked at its end to others (get_robust_list(2)). */
void futex_release_robust(const struct thread *thread);
/* Ends the wait of a slot's thread, if it waits, without a word to it. */
void futex_forget(struct slot *slot);

#endif
