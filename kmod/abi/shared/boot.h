/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * Entry into an LWK, and its boot parameters.
 *
 * Every assigned CPU (x86-64) jumps to the image's ELF entry point with
 *   CR3  page tables made by lwkpart.ko (4 or 5 levels as CR4.LA57 says), mapping
 *        - the image's segments at their link addresses, with their permissions,
 *        - all memory of the partition at LWK_DIRECT_MAP + physical address,
 *          writable, not executable,
 *        - the local APIC's page at LWK_LAPIC_VADDR, uncached,
 *        - the lwkpart.ko page that the CPU comes from, read-only and executable;
 *   RSP  a stack of LWK_BOOT_STACK bytes,
 *   RDI  the address of struct lwk_boot_params in the direct map,
 *   RSI  the CPU's index, 0…n_cpus-1,
 *   interrupts off, NMIs still blocked (until the first iretq), CR4.PGE, PCIDE
 *   and CET clear, the IDT and GDT Linux's and no longer to be used. All other registers and
 *   MSRs are as Linux uses them, which sets them again when the CPU comes back.
 *
 * The image is a statically linked ELF64 file (ET_EXEC). Its PT_LOAD segments begin at
 * page boundaries, share no page, and none is both writable and executable.
 */
#ifndef ABI_SHARED_BOOT_H
#define ABI_SHARED_BOOT_H

#include <linux/types.h>

#include "abi/shared/counters.h"
#include "abi/shared/layout.h"

/* The version changes with anything here that the LWK, lwkpart.ko and proxies must agree about. */
#define LWK_SHARED_VERSION 16
/* "LWK" and the version, by which a proxy sees that it is of another release than the LWK. */
#define LWK_SHARED_MAGIC (0x4b574cU | LWK_SHARED_VERSION << 24)

struct lwk_boot_cpu {
	__u32 linux_cpu;
	__u32 apicid;
	__u32 node; /* NUMA node */
	__u32 reserved32;
	/*
	 * Target of this CPU's doorbells to Linux: the APIC id in the upper half, the vector in the
	 * lower one. Linux changes it at any time, both halves at once; 0: none yet.
	 */
	__u64 doorbell;
	__u32 reserved[2];
};

struct lwk_boot_mem {
	__u64 start; /* physical */
	__u64 size;
	__u32 node;
	__u32 reserved;
};

/* Linux writes this before boot, and doorbells, want_registers and counting also later. */
struct lwk_boot_params {
	__u32 magic;   /* LWK_SHARED_MAGIC */
	__u32 version; /* LWK_SHARED_VERSION */
	__u32 n_cpus;
	__u32 n_mem;
	__u32 x2apic; /* 1: the local APICs are in x2APIC mode */
	__u32 job_id;
	__u64 reserve_start; /* physical */
	__u64 reserve_size;
	__u64 reserve_used;
	__u64 status;	/* physical address of struct lwk_status */
	__u64 console;	/* physical address of struct lwk_console */
	__u64 channels; /* physical address of struct lwk_channel[n_slots] */
	__u64 controls; /* physical address of struct lwk_control[n_slots] */
	__u64 grants;	/* physical address of struct lwk_grant[n_slots] */
	__u64 clock;	/* physical address of struct lwk_clock */
	__u32 tsc_khz;	/* about */
	char linux_release[65];
	char nodename[65];
	char domainname[65];
	char cmdline[257];
	/* Not 0: a CPU that gets an NMI writes its registers to lwk_status.registers. */
	__u32 want_registers;
	__u32 n_slots; /* more than n_cpus */
	__u32 reserved[3];
	struct lwk_counting counting;
	struct lwk_boot_cpu cpus[LWK_MAX_CPUS];
	struct lwk_boot_mem mem[LWK_MAX_MEM]; /* largest first */
};

#endif
