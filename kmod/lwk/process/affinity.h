/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs that a thread may use, and the one that it gets. */
#ifndef LWK_PROCESS_AFFINITY_H
#define LWK_PROCESS_AFFINITY_H

#include "abi/shared/layout.h"
#include "lwk/base/types.h"

struct process;
struct slot;

/* A set of CPUs by the LWK's index. As the CPUs that a thread may use, the empty set is any CPU. */
struct cpu_set {
	u64 bits[LWK_MAX_CPUS / 64];
};

static inline bool cpu_set_has(const struct cpu_set *set, u32 cpu)
{
	return set->bits[cpu / 64] >> cpu % 64 & 1;
}

static inline bool cpu_set_is_empty(const struct cpu_set *set)
{
	for (u32 i = 0; i < LWK_MAX_CPUS / 64; i++)
		if (set->bits[i])
			return false;
	return true;
}

static inline void cpu_set_add(struct cpu_set *set, u32 cpu)
{
	set->bits[cpu / 64] |= 1UL << cpu % 64;
}

/* The CPUs that the slot's thread has been given. */
struct cpu_set affinity_of(const struct slot *slot);
/*
 * The CPUs that the slot's thread can use: those that it has been given, else those on which its
 * process has or can have threads.
 */
struct cpu_set affinity_usable(const struct slot *slot);
/*
 * Gives the slot's thread these CPUs. The thread goes to one of them before it is in user mode
 * again, which is soon, and stays where it is if it is on one of them.
 */
void affinity_set(struct slot *slot, const struct cpu_set *set);
/* Gives a new thread, which is not running yet, these CPUs, and the best of them. */
void affinity_begin(struct slot *slot, const struct cpu_set *set);
/* Takes this thread to the CPU that it shall go on with, if it is another one. */
void affinity_follow(void);

#endif
