/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The pages of a Linux process: where they are, and moving them between NUMA nodes. */
#ifndef ABI_CONTROL_PAGES_H
#define ABI_CONTROL_PAGES_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/control/device.h"

/*
 * SCAN lists the pages that a process has on some NUMA nodes, by address, also those that it
 * shares with others, without pages of devices and zero pages. A call looks at part of
 * the addresses only: repeat it until 'start' is 'end'. With CLEAR, the next scan marks as
 * REFERENCED only pages that are used after this one; reclaim loses nothing that it knows of them.
 * ESRCH: there is no such process, or it has no memory; EBUSY: its memory map was locked for 100 ms,
 * which a process can do to itself.
 */
#define LWKPART_SCAN_CLEAR 0x1U
#define LWKPART_SCAN_NODES 1024
struct lwkpart_scan {
	__s32 pid;	/* in: of the process, as the caller knows it */
	__u32 flags;	/* in */
	__u64 start;	/* in: an address of the process; out: where to go on */
	__u64 end;	/* in; may be beyond what a process can have */
	__u64 pages;	/* in: user address of __u64[capacity]: addresses with LWKPART_PAGE_* */
	__u32 capacity; /* in: up to 65536 */
	__u32 count;	/* out */
	__u64 nodes[LWKPART_SCAN_NODES / 64]; /* in: a bit for each node to list */
	__u64 physical_start;		      /* in: only pages that begin in this range */
	__u64 physical_end;		      /* in; 0: any address */
	__u64 reserved;
};

/* SCAN sets these in the lower bits of the addresses that it lists. */
#define LWKPART_PAGE_REFERENCED 0x001UL /* used since its Accessed bit was last cleared */
#define LWKPART_PAGE_HUGE 0x002UL	/* 2 MB */
#define LWKPART_PAGE_GIANT 0x004UL	/* 1 GB; HUGE is set too */
#define LWKPART_PAGE_HUGETLB 0x008UL	/* of hugetlbfs */
#define LWKPART_PAGE_SHARED 0x010UL	/* mapped more than once */
#define LWKPART_PAGE_FILE 0x020UL	/* of a file or shared memory */
#define LWKPART_PAGE_KSM 0x040UL	/* merged with pages of the same content */
#define LWKPART_PAGE_MLOCKED 0x080UL
#define LWKPART_PAGE_HINTED 0x100UL /* not accessible now: NUMA balancing, or PROT_NONE */

/*
 * MOVE moves anonymous 4 KB pages that only this process has to a NUMA node, as
 * move_pages(2) does it, but in less time. It moves neighbours together, so pass addresses in
 * ascending order. It ignores the process's cpuset. 'status' becomes the node of each page that was
 * moved, and -EAGAIN for the others, which move_pages(2) can try: pages of another kind, in use by
 * the kernel, absent, on that node already, or without room there. ESRCH: there is no such process,
 * or it has no memory; EOPNOTSUPP: this kernel cannot do it. EINTR: the caller was killed before all was
 * tried; EBUSY: the process's memory map was locked for 100 ms meanwhile; with both, 'status' is right.
 */
struct lwkpart_move {
	__s32 pid;	 /* of the process, as the caller knows it */
	__u32 node;	 /* one with memory */
	__u64 addresses; /* user address of __u64[count] */
	__u64 status;	 /* user address of __s32[count]; written */
	__u32 count;	 /* up to 65536 */
	__u32 reserved;
};

#define LWKPART_SCAN _IOWR(LWKPART_IOC, 0x10, struct lwkpart_scan)
#define LWKPART_MOVE _IOW(LWKPART_IOC, 0x14, struct lwkpart_move)

#endif
