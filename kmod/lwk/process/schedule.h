/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs choose among threads. In the kernel only a thread that waits lets another one go on, so a
 * thread that holds a lock must not wait, and a loop that looks for what another thread does must
 * yield. In user mode a thread's turn ends after a while.
 */
#ifndef LWK_PROCESS_SCHEDULE_H
#define LWK_PROCESS_SCHEDULE_H

#include "lwk/base/types.h"

struct cpu;
struct slot;

/*
 * Lets other threads of this CPU go on, or halts, until ready() is true or lwkpart.ko wants the slot
 * to look (channel_disturbs()). ready() looks at memory that the kernel and Linux share, and must
 * be true before its doorbell rings.
 */
void slot_sleep(bool (*ready)(const struct slot *slot));
/* The ready() of a thread that waits for its doorbell alone: always false. */
bool never(const struct slot *slot);
/* Does slot_sleep(), and returns at 'deadline' of the monotonic clock at the latest. */
void slot_sleep_until(bool (*ready)(const struct slot *slot), u64 deadline);
/* The ready() of a slot has become true: makes its CPU look. */
void slot_wake(const struct slot *slot);
/* For a loop that looks: lets another thread of this CPU go on, if one can. */
void slot_yield(void);
/* True when another thread of this CPU can go on. */
bool slot_others_wait(void);
/*
 * Goes on with another CPU; NULL: with none, so it does not return, and the next order to this slot
 * begins in slot_loop(). Not for a CPU's own slot.
 */
void slot_move(struct cpu *to);
/* After a switch to this slot: the slot that wanted to leave its CPU leaves. */
void slot_arrive(void);
/* Lets other slots of this CPU do what cannot wait, if there is any. */
void slot_run_urgent(void);
/*
 * Before user mode, when the CPU's 'look' is set: lets other slots of this CPU do what cannot wait,
 * and lets the next one go on if this one's turn is over. Has the timer interrupt user mode when
 * another slot needs the CPU.
 */
void slot_take_turns(void);
/* Sleeps for as long as Linux wants the process of this slot to stand still. */
void slot_freeze(void);

#endif
