/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of a process. */
#ifndef LWK_PROCESS_PROCESS_H
#define LWK_PROCESS_PROCESS_H

#include "abi/shared/calls.h"
#include "lwk/base/lock.h"
#include "lwk/base/types.h"
#include "lwk/memory/space.h"
#include "lwk/signals/action.h"
#include "lwk/signals/pending.h"
#include "lwk/signals/set.h"
#include "lwk/time/cpu_time.h"
#include "lwk/time/cpu_timers.h"

struct slot;
struct waiter;

struct process {
	u32 pid;
	u32 uid;
	struct slot *first; /* the slot of its first thread */
	u32 n_slots;	    /* slots that have its address space, with or without a thread */
	u32 n_threads;
	u32 ending;   /* 1: no thread returns to user mode any more */
	u32 barriers; /* commands of membarrier(2) that the process may give */
	bool out_of_memory;
	struct lwk_cause cause;
	struct space space;
	struct spinlock futex_lock;
	struct waiter *waiters;
	u32 passing; /* threads that have ended and are passing a lock on (futex.c) */
	struct spinlock action_lock;
	struct signal_action actions[SIGNALS]; /* [s-1]: for signal s */
	u64 passed_on;		      /* signals that the proxy passes on, though ignored */
	struct spinlock pending_lock; /* pending signals, also of its threads, except the sets */
	struct pending pending;	      /* for any thread */
	struct queued *free_queued;   /* elements for pending signals */
	void *queued_pages[QUEUED_PAGES]; /* pages that they are in */
	u32 lost_signals;		  /* 1: more signals came than can wait */
	/*
	 * The timer whose signal was taken last: its number plus 1, and its overruns << 32; or 0.
	 */
	u64 taken_timer;
	struct spinlock time_lock;
	struct cpu_time past_time; /* TSC cycles of threads that have ended */
	struct cpu_timers cpu_timers;
};

/* Makes a process in this slot, loads it as its proxy says and runs it. */
void process_run(void) __attribute__((noreturn));
/* Ends the process, all threads of it, with a status of wait(2). */
void process_exit(int wait_status) __attribute__((noreturn));
/* Ends the process without a word to its proxy, which does not keep to the protocol. */
void process_kill(void) __attribute__((noreturn));
/* Takes the process off this slot when its proxy is gone; waits for that. */
void process_abandon(void) __attribute__((noreturn));
/*
 * In the midst of long work of a thread: does what cannot wait for its end. Does not return when
 * the process ends. The caller holds nothing that others wait for.
 */
void process_goes_on(void);
/*
 * For a thread that looks again and again for what nobody announces: does meanwhile what cannot
 * wait, and gives others their turns. Does not return when the proxy is gone.
 */
void process_looks(void);
/* Makes the other CPUs of the process look at what has changed. */
void process_kick(struct process *process);

#endif
