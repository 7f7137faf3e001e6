/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * Sizes and addresses that Linux and an LWK agree on.
 *
 * The reserve, [reserve_start, reserve_start + reserve_size) at the
 * start of mem[0] (struct lwk_boot_params), belongs to the LWK kernel: lwkpart.ko puts the image,
 * the shared areas, the first page tables and the stacks into its first reserve_used bytes.
 * The partition's other memory is for processes, and only that can be seen through a proxy's
 * WINDOW: the LWK must keep its own data, page tables included, in the reserve.
 * Outside the partition a process may have the memory that lwkpart.ko has granted it
 * (struct lwk_grant), and nothing else.
 * Memory behind reserve_used holds what its last users left there, perhaps of another
 * job: the LWK clears it before it serves a process, and then sets memory_clear (struct
 * lwk_status). The word "memory=own" in its command line says that they were this job's user.
 */
#ifndef ABI_SHARED_LAYOUT_H
#define ABI_SHARED_LAYOUT_H

#define LWK_MAX_CPUS 256
/*
 * A slot is the place of one thread, in every array that says "per slot". The slots before n_cpus
 * are the CPUs' own and never have threads. Any other slot is on the CPU that an order names, until
 * the LWK moves it to another. A CPU runs the threads of its slots one at a time.
 */
#define LWK_MAX_SLOTS 4096
#define LWK_MAX_MEM 1024
#define LWK_BOOT_STACK 16384

#define LWK_DIRECT_MAP 0xffff900000000000UL
#define LWK_LAPIC_VADDR 0xfffffffe00000000UL
/* An image may be linked to addresses in these 512 MB. */
#define LWK_IMAGE_BASE 0xffffffff80000000UL
#define LWK_IMAGE_LIMIT 0xffffffffa0000000UL

/*
 * Addresses that an LWK process may use, as many of Linux's as possible, because sanitizers choose
 * theirs. A proxy maps the same range around its own executable (LWK_CALL_RESERVE). The range ends
 * below the addresses at which Linux puts the proxy's libraries and stack, unless it spreads them
 * over more than 1 TB.
 */
#define LWK_USER_START 0x10000UL
#define LWK_USER_END 0x7ef000000000UL
/* Behind them every process can read struct lwk_clock, and run code that reads it. */
#define LWK_CLOCK_VADDR 0x7f8000000000UL
#define LWK_VDSO_VADDR (LWK_CLOCK_VADDR + 4096)
#define LWK_VDSO_BYTES 4096

/* The interrupt vector of doorbells from Linux to the LWK. */
#define LWK_DOORBELL_VECTOR 0xf0

#define LWK_CACHE_LINE 64
#define LWK_LINE_ALIGNED __attribute__((aligned(LWK_CACHE_LINE)))

#endif
