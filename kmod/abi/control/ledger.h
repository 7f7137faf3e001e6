/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Lending: CPUs and memory that Linux gives away and takes back, and the ledger of them. */
#ifndef ABI_CONTROL_LEDGER_H
#define ABI_CONTROL_LEDGER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/control/device.h"

/* Granularity of lent memory: one large page. */
#define LWKPART_MEM_ALIGN (2UL << 20)

/*
 * Takes one CPU from Linux (hot-unplug) and parks it, or gives it back.
 * LEND: EPERM for CPU 0, EALREADY when lent, ENODEV when not on-line, EBUSY
 * when Linux cannot spare it. RETURN: ENOENT when not lent, EBUSY while assigned.
 */
struct lwkpart_cpu {
	__u32 cpu;
	__u32 flags;
};

/*
 * How a memory range came to be lent: as whole memory blocks that user space
 * has put off-line before (it brings them on-line again after RETURN), or as a
 * range that the module allocated from Linux (RETURN frees it).
 */
enum lwkpart_mem_kind {
	LWKPART_MEM_BLOCK = 1,
	LWKPART_MEM_CONTIG = 2,
};

/*
 * LEND, kind BLOCK: enters [start, start+size) into the ledger. EINVAL when it
 * is not whole blocks, EBUSY when a page of it is on-line, EEXIST when lent.
 * LEND, kind CONTIG: finds 'size' bytes of contiguous memory on NUMA node 'node'
 * and returns its address in 'start'; ENOMEM when there is no such run. It can
 * take seconds; a fatal signal ends it with EINTR.
 * RETURN: [start, start+size) must be exactly one lent range: ENOENT; EBUSY
 * while it is assigned. 'node' and 'kind' are not looked at.
 */
struct lwkpart_mem {
	__u64 start; /* BLOCK: in; CONTIG: out of LEND, in of RETURN */
	__u64 size;
	__u32 node; /* NUMA node, in; BLOCK: checked against the range's */
	__u32 kind; /* enum lwkpart_mem_kind */
	__u64 reserved;
};

#define LWKPART_NO_INSTANCE 0xffffffffU

/* One line of the ledger. */
struct lwkpart_ledger_entry {
	__u32 kind;	/* 0: a CPU; else enum lwkpart_mem_kind */
	__u32 instance; /* who has it, or LWKPART_NO_INSTANCE */
	__u32 cpu;	/* kind 0 */
	__u32 node;
	__u64 start; /* memory */
	__u64 size;
};

/*
 * Copies the ledger out: CPUs first, then memory by address. Fills at most
 * 'capacity' entries and always tells the full 'count'.
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
