/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that a process makes, and other programs that it becomes. */
#ifndef LWK_PROCESS_FORK_H
#define LWK_PROCESS_FORK_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"
#include "lwk/memory/policy.h"
#include "lwk/memory/space.h"
#include "lwk/process/affinity.h"
#include "lwk/process/thread.h"
#include "lwk/time/cpu_time.h"

/* An offer: another slot makes a process of it while this one waits. */
struct offer {
	u64 state;	    /* its number, and whether it is open; written last */
	bool lent;	    /* the memory itself, not a copy: vfork(2) */
	struct space space; /* the memory, until it is taken, and after it is back */
	u64 settid;	    /* where it shall write its pid, or 0 */
	struct thread_start start;
};

/* The next program inherits it from the program that it replaces, if it has this pid. */
struct heritage {
	u32 pid;
	struct policy policy;
	struct cpu_time time; /* cycles */
	struct cpu_set cpus;
};

/* clone(2) without CLONE_THREAD. */
s64 fork_clone(struct frame *frame);
/* Makes this slot's process, an empty one, a copy of what another offers. 0 or a negative errno. */
s64 fork_adopt(u64 index, u64 number);
/* Runs the process that fork_adopt() has made. */
void fork_run(void) __attribute__((noreturn));
/*
 * Ends the offer of this slot's process, which is ending. A borrower keeps memory that this process
 * has lent to it.
 */
void fork_withdraw(void);
/* Gives the memory of this slot's process, which nobody uses any more, back if it was lent. */
bool fork_return(void);

#endif
