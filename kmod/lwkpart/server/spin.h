/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nanoseconds for which a thread that waits for packets looks for one before it sleeps.
 *
 * After a wait of at most SPIN_MAX the next look takes SPIN_MIN, then twice as long each time, up to
 * SPIN_MAX; after a longer wait the thread sleeps at once. KVM does the same for halted CPUs, with
 * the same figures (Documentation/virt/kvm/halt-polling.rst).
 *
 * While another task wants the CPU, a look takes SPIN_SHARED at most, which is about the cost of
 * switching to that task and back. A longer look could cost more than twice as much as sleeping at
 * once; sleeping at once would switch for each call of a program that makes many (Karlin et al.,
 * Competitive randomized algorithms for nonuniform problems, 1990).
 *
 * Where the proxies' CPU time is limited no look is free: Linux stops all proxies of the job for the
 * rest of a period when they have used up their quota. There each look takes SPIN_MIN, which is about
 * the cost of sleeping and of waking up, so that looking takes no more than twice of what calls need.
 */
#ifndef LWKPART_SPIN_H
#define LWKPART_SPIN_H

#include <linux/sched/stat.h>
#include <linux/types.h>

#include "instance/instance.h"

#define SPIN_MIN 10000U
#define SPIN_MAX 200000U
#define SPIN_SHARED 50000U

/* Returns how long the next look takes, after a look of 'spin_ns' and a wait. */
static inline unsigned int spin_after(const struct instance *instance, unsigned int spin_ns,
				      u64 waited)
{
	if (waited > SPIN_MAX)
		return 0;
	if (waited <= spin_ns)
		return spin_ns;
	return clamp(spin_ns * 2, SPIN_MIN, instance->limited ? SPIN_MIN : SPIN_MAX);
}

static inline bool spin_is_over(unsigned int spin_ns, u64 waited)
{
	return waited >= spin_ns || (waited >= SPIN_SHARED && !single_task_running());
}

#endif
