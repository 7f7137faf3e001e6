/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A CPU: descriptor tables, MSRs, and which of its slots it runs. */
#ifndef LWK_MACHINE_CPU_H
#define LWK_MACHINE_CPU_H

#include "lwk/base/types.h"
#include "lwk/machine/x86.h"
#include "lwk/watch/counters.h"

struct slot;

struct cpu {
	u32 index;	       /* as abi/shared/boot.h numbers CPUs */
	u32 n_busy;	       /* its slots that have a process */
	struct slot *own;      /* never has a thread */
	struct slot *current;  /* the slot whose turn it is */
	struct slot *arrivals; /* slots that other CPUs have sent here */
	struct slot *leaver;   /* the slot that leaves as soon as another has its turn, or NULL */
	struct cpu *leaver_to; /* NULL: nowhere, it becomes free */
	/* The slot whose turn comes first, because another interrupted it; or NULL. */
	struct slot *interrupted;
	bool look;	    /* another slot may be ready, or urgent (schedule.c) */
	u64 turn_end;	    /* of the current slot if another is ready; monotonic clock */
	u64 timer;	    /* when the local APIC's timer interrupts; NO_DEADLINE: never */
	u32 sleeps;	    /* 1: only an interrupt makes it look */
	u64 tlb_seen;	    /* the current process's tlb_generation that its TLB has followed */
	u32 machine_checks; /* that are to be reported (machine_check.c) */
	u64 machine_check_address;
	struct counters counters;
	u64 gdt[11];
	struct tss tss;
};

struct cpu *cpu_at(u32 index);
/* Makes this CPU ready for user mode. */
void cpu_setup(struct cpu *cpu);

#endif
