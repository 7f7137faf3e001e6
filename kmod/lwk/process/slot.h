/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slot is the place of one thread (abi/shared/layout.h): it has a kernel stack, a channel to the
 * proxy, and a share of a CPU, which may have other slots. Each CPU has a slot of its own, which
 * runs when no other slot needs the CPU.
 *
 * A process belongs to the slot of its first thread. A slot that has been given to the process for
 * another thread stays with it until the process ends.
 */
#ifndef LWK_PROCESS_SLOT_H
#define LWK_PROCESS_SLOT_H

#include "abi/shared/channel.h"
#include "abi/shared/orders.h"
#include "abi/shared/statistics.h"
#include "lwk/base/types.h"
#include "lwk/process/fork.h"
#include "lwk/process/futex.h"
#include "lwk/process/process.h"
#include "lwk/process/thread.h"
#include "lwk/time/cpu_time.h"

struct cpu;

/* Bytes of each slot's kernel stack. */
#define KERNEL_STACK 16384

struct slot {
	/* entry.S knows the offsets of these. */
	struct slot *self;
	u64 user_rsp;
	u64 kernel_rsp;

	u32 index;
	u32 node;
	struct cpu *cpu;      /* NULL: none, it is free or on its way */
	struct slot *next;    /* of the same CPU, in a ring */
	struct slot *arrival; /* on its way to the same CPU (schedule.c) */
	u32 free;	      /* 1: an order may bring it to a CPU */
	u32 destination;      /* index of the CPU that its thread shall go on with, plus 1; or 0 */
	struct lwk_channel *channel;
	struct lwk_control *control;
	struct lwk_cpu_status *status;

	/* The channel's counts, kept where nobody else can write. */
	u32 sent, taken; /* by Linux, as far as is known */
	u32 received;
	u32 next_id;
	u32 signals_taken;
	u64 held; /* signals that the proxy's thread leaves with Linux: signal_hold() */
	u64 spin; /* TSC cycles to look for a packet before halting */

	u32 tsc_khz;
	u64 ns_per_cycle;      /* for that tsc_khz, in units of 2^-32 */
	struct cpu_time began; /* what the slot had spent when its present thread began */
	bool running;	       /* the slot has a thread */
	void *fpu_area;	       /* fpu_size() bytes to move floating-point state through */

	/* The condition that its thread waits for, if it waits (schedule.c). */
	bool (*ready)(const struct slot *slot);
	u64 deadline;
	/* The state that its thread goes on with after the turns of others. */
	u64 rsp, root, fs_base, gs_base;
	void *fpu_switched;

	struct process *process; /* NULL: none */
	struct thread thread;
	struct waiter waiter; /* in the process's list while its thread waits (futex.c) */
	u32 parked;	      /* 1: has a process, no thread; a CPU takes it by setting it to 0 */
	struct thread_start start;
	u64 offers;   /* so far */
	u32 parent;   /* slot whose offer this one has taken */
	u64 borrowed; /* number of that offer, if its memory is to be given back; or 0 */
	u64 settid;   /* of that offer */
	struct offer offer;
	struct heritage heritage;
	struct process own; /* the process of which this slot is the first */
	/* memory/visit.c: others copy memory of 'own' with the lock held, if they may. */
	struct spinlock visit_lock;
	bool may_visit;
	struct process *visited; /* whose memory this slot's thread works on; NULL: its own */
};

static inline struct slot *this_slot(void)
{
	struct slot *slot;

	__asm__ volatile("movq %%gs:0, %0" : "=r"(slot));
	return slot;
}

static inline struct process *this_process(void)
{
	return this_slot()->process;
}

static inline struct thread *this_thread(void)
{
	return &this_slot()->thread;
}

struct slot *slot_at(u32 index);
/* Makes room for all slots; the first CPU calls it before any slots_setup(). */
void slots_init(void);
/* Gives a CPU its first slot, on which it boots. */
void slot_boot(struct cpu *cpu);
/* Sets up this CPU's own slot, and its share of the others. */
void slots_setup(struct cpu *cpu);
/* Makes a slot that has no CPU begin in slot_loop(). */
void slot_prepare(struct slot *slot);
/* Waits for a process or a thread, and runs it. */
void slot_loop(void) __attribute__((noreturn));

#endif
