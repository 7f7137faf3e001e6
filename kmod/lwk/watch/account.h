/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This slot's statistics (struct lwk_cpu_status). */
#ifndef LWK_WATCH_ACCOUNT_H
#define LWK_WATCH_ACCOUNT_H

#include "abi/shared/statistics.h"
#include "lwk/base/types.h"
#include "lwk/machine/x86.h"
#include "lwk/process/slot.h"

/* Notes that this slot does something else now (enum lwk_cpu_state). Returns its former state. */
u32 account(u32 state);

/*
 * A group's fields may be written between these; for a reader it is all or nothing. x86
 * keeps stores in order, so it is enough to keep the compiler from reordering them.
 */
static inline void group_begin(__u32 *seq)
{
	WRITE_ONCE(*seq, *seq + 1);
	compiler_barrier();
}

static inline void group_end(__u32 *seq)
{
	compiler_barrier();
	WRITE_ONCE(*seq, *seq + 1);
}

static inline void beat(const struct slot *slot, u64 beats)
{
	WRITE_ONCE(slot->status->heartbeat, slot->status->heartbeat + beats);
}

/* The slot enters the kernel with interrupts off, or leaves it again (abi/shared/statistics.h). */
static inline void heartbeat(void)
{
	beat(this_slot(), 1);
}

/* Long work in the kernel goes on. */
static inline void still_alive(void)
{
	beat(this_slot(), 2);
}

#endif
