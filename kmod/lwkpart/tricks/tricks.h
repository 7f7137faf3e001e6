/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tricks do what Linux exports no interface for: only tricks.c reaches for Linux's internals. The
 * module's parameter tricks_off= turns each trick off by its name; one that this kernel does not
 * allow is off by itself. Everything but the feature of a trick goes on without it.
 */
#ifndef LWKPART_TRICKS_H
#define LWKPART_TRICKS_H

#include <linux/mm_types.h>

struct pt_regs;

struct tricks_hooks {
	/* Stops all lent CPUs, in any context. */
	void (*stop_lent_cpus)(void);
	/* True when nothing is lent. Any context. */
	bool (*nothing_is_lent)(void);
};

/* 0, or -EINVAL when tricks_off= names something that is no trick. */
int tricks_init(const struct tricks_hooks *hooks);
void tricks_exit(void);

/*
 * "calls": the function of a system call, like "__x64_sys_read"; NULL: make the call another way.
 */
typedef long (*trick_call)(const struct pt_regs *regs);
trick_call trick_find_call(const char *symbol);

/*
 * "cpusets": makes version 1 cpusets keep the CPUs and memory nodes that go off-line. Call it
 * before anything leaves Linux that a cpuset may name.
 */
void trick_keep_cpusets(void);

/* "tlb-flush": flushes the translations of a process, so that Accessed bits are set again. */
void trick_flush_tlb(struct mm_struct *mm);

/* "cpu-time": adds nanoseconds to the times of the calling thread. */
void trick_add_cpu_time(u64 user, u64 system);

/*
 * "memory": adds pages of 4 KB, or takes them, to what a process is said to use; 'peak': the most
 * so far.
 */
void trick_add_memory(struct mm_struct *mm, long pages, unsigned long peak);

#endif
