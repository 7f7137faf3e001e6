/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The ledger: CPUs and memory that Linux has lent to the module. */
#ifndef ABI_CONTROL_LEDGER_H
#define ABI_CONTROL_LEDGER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/control/device.h"

/* Granularity of lent memory: one large page. */
#define LWKPART_MEM_ALIGN (2UL << 20)

/*
 * LEND takes one CPU from Linux (hot-unplug) and parks it. EPERM: CPU 0; EALREADY: it is lent;
 * ENODEV: it is not on-line; EBUSY: Linux cannot spare it.
 * RETURN gives it back. ENOENT: it is not lent; EBUSY: it is assigned.
 */
struct lwkpart_cpu {
	__u32 cpu;
	__u32 flags;
};

/*
 * A memory range is lent in one of two ways. BLOCK: whole memory blocks that user space
 * has put off-line before LEND and brings on-line again after RETURN. CONTIG: a
 * range that the module allocates from Linux; RETURN frees it.
 */
enum lwkpart_mem_kind {
	LWKPART_MEM_BLOCK = 1,
	LWKPART_MEM_CONTIG = 2,
};

/*
 * LEND, kind BLOCK, enters [start, start+size) into the ledger. EINVAL: it
 * is not whole blocks; EBUSY: a page of it is on-line; EEXIST: it is lent.
 * LEND, kind CONTIG, finds 'size' bytes of contiguous memory on NUMA node 'node'
 * and returns its address in 'start'. It can take seconds; a fatal signal ends it with EINTR.
 * ENOMEM: there is no such run.
 * RETURN ignores 'node' and 'kind'. ENOENT: [start, start+size) is not exactly one lent range;
 * EBUSY: it is assigned.
 */
struct lwkpart_mem {
	__u64 start; /* BLOCK: in; CONTIG: out of LEND, in of RETURN */
	__u64 size;
	__u32 node; /* in: NUMA node; BLOCK: must be the range's */
	__u32 kind; /* in: enum lwkpart_mem_kind */
	__u64 reserved;
};

#define LWKPART_NO_INSTANCE 0xffffffffU

/* One CPU or one memory range of the ledger. */
struct lwkpart_ledger_entry {
	__u32 kind;	/* 0: a CPU; else enum lwkpart_mem_kind */
	__u32 instance; /* the instance that has the entry, or LWKPART_NO_INSTANCE */
	__u32 cpu;	/* kind 0 */
	__u32 node;
	__u64 start; /* memory */
	__u64 size;
};

/*
 * Copies the ledger out, CPUs first, then memory by address. At most 'capacity' entries are
 * filled in; 'count' is always the number that exist.
 */
struct lwkpart_ledger {
	__u64 entries;	/* in: user address of lwkpart_ledger_entry[capacity] */
	__u32 capacity; /* in */
	__u32 count;	/* out */
	__u64 reserved;
};

#define LWKPART_LEND_CPU _IOW(LWKPART_IOC, 0x01, struct lwkpart_cpu)
#define LWKPART_RETURN_CPU _IOW(LWKPART_IOC, 0x02, struct lwkpart_cpu)
#define LWKPART_LEND_MEM _IOWR(LWKPART_IOC, 0x03, struct lwkpart_mem)
#define LWKPART_RETURN_MEM _IOW(LWKPART_IOC, 0x04, struct lwkpart_mem)
#define LWKPART_GET_LEDGER _IOWR(LWKPART_IOC, 0x0d, struct lwkpart_ledger)

#endif
