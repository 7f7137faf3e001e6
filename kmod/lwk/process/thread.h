/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads beyond a process's first. */
#ifndef LWK_PROCESS_THREAD_H
#define LWK_PROCESS_THREAD_H

/* Older headers use size_t in <linux/signal.h> and do not declare it. */
#include <stddef.h>

#include <linux/signal.h>

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"
#include "lwk/memory/policy.h"
#include "lwk/signals/pending.h"

struct slot;

struct thread {
	u32 tid;
	u64 blocked; /* bit s-1: signal s */
	struct pending pending;
	u64 suspended_mask; /* 'blocked' before rt_sigsuspend(2) */
	bool suspended;
	bool interrupted; /* the call being left was cut short: EINTR, or restart */
	stack_t altstack;
	struct policy policy;
	u64 clear_tid;	 /* address of a futex word that becomes 0 at its end, or 0 */
	u64 robust_list; /* get_robust_list(2), or 0 */
};

/* The state in which a thread begins; its floating-point state is in fpu_area. */
struct thread_start {
	u32 ready;   /* written last: all else is there */
	u32 signals; /* the channel's signals before this one are for the thread before */
	struct frame frame;
	u64 fs_base, gs_base;
	u64 clear_tid; /* of the new thread */
};

void thread_init(struct thread *thread, u32 tid);
/*
 * Stores how a thread begins that the caller makes with these flags of clone(2); its floating-point
 * state goes to 'slot'. Stack 0: the caller's.
 */
void thread_start_store(struct slot *slot, struct thread_start *start, const struct frame *frame,
			u64 flags, u64 stack);
/*
 * Returns the slot of the thread with this number, of any process of the LWK; NULL: no such thread.
 * The thread can end at any time.
 */
struct slot *thread_find(u32 tid);
/* Gives this slot to a process that other slots run. */
void thread_join(void) __attribute__((noreturn));
/* Waits for a thread to run. */
void thread_park(void) __attribute__((noreturn));
/* Runs what is in this slot's 'start'. */
void thread_run(void) __attribute__((noreturn));

#endif
