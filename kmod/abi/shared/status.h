/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The status area of an instance, with room for the registers of a panic. */
#ifndef ABI_SHARED_STATUS_H
#define ABI_SHARED_STATUS_H

#include <linux/types.h>

#include "abi/shared/layout.h"
#include "abi/shared/statistics.h"

/* The registers of a CPU when the LWK panicked or hung, for a dump (LWKPART_DUMP). */
struct lwk_registers {
	__u64 known; /* 0: the other fields mean nothing */
	__u64 r15, r14, r13, r12, rbp, rbx;
	__u64 r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	__u64 rip, cs, rflags, rsp, ss;
	__u64 fs_base, gs_base;
	__u64 cr2, cr3;
	__u64 reserved[7];
};

/*
 * The LWK writes the status area; Linux reads it and must not trust a word of it. Users read it,
 * too: it holds no physical addresses.
 */
struct lwk_status {
	__u32 magic; /* LWK_SHARED_MAGIC */
	__u32 state; /* BOOTING, RUNNING or PANIC of enum lwk_state */
	__u32 cpus_up;
	__u32 panic_cpu;    /* with PANIC: index of the CPU */
	char message[128];  /* with PANIC; perhaps without a NUL at its end */
	char version[64];   /* as uname -v in the LWK prints it */
	__u64 boot_tsc;	    /* cycles from the first CPU's entry to RUNNING */
	__u64 user_bytes;   /* memory for processes, in all */
	__u64 kernel_bytes; /* the reserve, in all */
	__u64 kernel_used;  /* of the reserve, taken for ever during boot */
	/* Bytes at the start of the reserve; the LWK has never used the memory behind them. */
	__u64 kernel_end;
	__u64 registers; /* of struct lwk_registers[n_cpus]: bytes from the reserve's start, or 0 */
	/* Architectural performance monitoring (Intel SDM volume 3, 20.2), from CPUID leaf 0xa. */
	__u32 pmu_version; /* 0: the CPUs have none, and the fields below are 0 */
	__u32 pmu_counters;
	__u32 pmu_bits; /* width of a counter */
	__u32 pmu_fixed;
	__s64 panic_ns;	   /* realtime of a panic, by the LWK's clock */
	__u32 pmu_missing; /* bit i: the CPUs lack architectural event i (SDM, table 20-1) */
	__u32 n_slots;	   /* elements of cpu */
	__u64 kernel_node; /* NUMA node of the reserve */
	/*
	 * Slots that CPUs have begun, and ended, to take or to leave: differ while the sums are
	 * wrong.
	 */
	__u32 moves_begun;
	__u32 moves_ended;
	__u32 memory_clear; /* 1: the memory has nothing of its former users any more */
	__u32 reserved32;
	__u64 reserved[1];
	struct lwk_cpu_status cpu
		[LWK_MAX_SLOTS]; /* one per slot, n_slots; in a copy (LWK_GET_USAGE), one per CPU */
};

/* Bytes of a status area with n elements of 'cpu'. */
#define LWK_STATUS_BYTES(n)                                                                        \
	(sizeof(struct lwk_status) -                                                               \
	 (LWK_MAX_SLOTS - (unsigned long)(n)) * sizeof(struct lwk_cpu_status))

#endif
