/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spinlocks. The kernel runs with interrupts off, so a lock is held for a short time.
 *
 * The page pools and the console have a lock each. The threads of a process share more; a CPU that
 * holds one of these locks takes only locks behind it in its line:
 *   futexes, address space, page pools;
 *   pending signals, page pools;
 *   signal actions;
 *   CPU timers, CPU time, page pools.
 */
#ifndef LWK_BASE_LOCK_H
#define LWK_BASE_LOCK_H

#include "lwk/base/types.h"
#include "lwk/machine/x86.h"

struct spinlock {
	u32 locked;
};

static inline void spin_lock(struct spinlock *lock)
{
	while (__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE))
		while (READ_ONCE(lock->locked))
			cpu_relax();
}

static inline void spin_unlock(struct spinlock *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

#endif
