/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that wait for each other (futex(2)). */
#ifndef LWK_PROCESS_FUTEX_H
#define LWK_PROCESS_FUTEX_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"
#include "lwk/process/thread.h"

s64 sys_futex(struct frame *frame);
/* Wakes up to 'count' threads that wait at addr; returns how many. */
u64 futex_wake(u64 addr, u64 count, u32 bitset);
/* Gives the futexes that a thread leaves locked at its end to others (get_robust_list(2)). */
void futex_release_robust(const struct thread *thread);

#endif
