/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lent CPUs, by Linux's number. Unless a comment says otherwise, a caller holds lwkpart_mutex. */
#ifndef LWKPART_CPU_H
#define LWKPART_CPU_H

#include "abi/shared/boot.h"

/* A CPU's entry into an LWK (abi/shared/boot.h). Addresses are the LWK's, except page_root. */
struct cpu_entry {
	u64 page_root; /* physical address */
	u64 address;
	u64 stack; /* its upper end */
	u64 params;
	u32 index;
};

int cpus_init(void);
void cpus_exit(void);
/* LWKPART_LEND_CPU and LWKPART_RETURN_CPU, with their errors. */
int cpu_lend(unsigned int cpu);
int cpu_return(unsigned int cpu);
/*
 * Makes sure that a lent CPU is parked. A CPU that ran an LWK before goes through Linux once
 * more, half-way up and down again, or all the way, which takes as long as RETURN and LEND.
 * Returns 0 or a negative error; after an error the CPU is still lent, and LWKPART_RETURN_CPU
 * works.
 */
int cpu_make_ready(unsigned int cpu);
/* Has a parked CPU start, which takes a moment. From now on the caller must stop it. */
void cpu_start(unsigned int cpu, const struct cpu_entry *entry);
/* Waits until the CPU has started. Returns 0, or -ETIMEDOUT after five seconds. */
int cpu_started(unsigned int cpu);
/* Sends an NMI to a CPU that was started, which reaches it with interrupts off, too. */
void cpu_nmi(unsigned int cpu);
/* Stops all CPUs that were started, whatever they execute. Takes 10 ms. */
void cpu_stop(const struct lwk_boot_cpu *cpus, unsigned int count);
/*
 * Stops all lent CPUs, because Linux itself is about to end; they cannot be started again.
 * Any context, without the mutex.
 */
void cpus_stop_all(void);
u32 cpu_apicid(unsigned int cpu);
/* The address of the code that enters an LWK; it lies within one page. */
u64 cpu_stub_address(void);

#endif
