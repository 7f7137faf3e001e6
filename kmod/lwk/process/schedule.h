/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of its threads a CPU runs. A thread that waits lets another one go on, and nothing else
 * does; so a thread that holds a lock must not wait, and code that waits for another thread by
 * looking must let it run.
 */
#ifndef LWK_PROCESS_SCHEDULE_H
#define LWK_PROCESS_SCHEDULE_H

#include "lwk/base/types.h"

struct slot;

/*
 * Lets other threads of this CPU go on, or halts, until ready() is true. ready() looks at the
 * memory that the kernel and Linux share, and must become true before the doorbell that announces
 * it.
 */
void slot_sleep(bool (*ready)(const struct slot *slot));
/* As slot_sleep(), but not beyond 'deadline' on the monotonic clock. */
void slot_sleep_until(bool (*ready)(const struct slot *slot), u64 deadline);
/* Makes the CPU of a slot look whose ready() has become true. */
void slot_wake(const struct slot *slot);
/* Lets another thread of this CPU go on, if one can. */
void slot_yield(void);
/* Can another thread of this CPU go on? */
bool slot_others_wait(void);
/* Lets other slots of this CPU do what cannot wait, if there is any. */
void slot_run_urgent(void);
/* Sleeps for as long as Linux wants the process of this slot to stand still. */
void slot_freeze(void);

#endif
