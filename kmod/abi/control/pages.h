/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The pages of a Linux process: where they are, and moving them between NUMA nodes. */
#ifndef ABI_CONTROL_PAGES_H
#define ABI_CONTROL_PAGES_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/control/device.h"

/*
 * Lists the pages that a process has on some NUMA nodes, by address, whoever else has
 * them too. Pages of devices and the zero pages are left out. A call looks at part of
 * the addresses only: repeat it until 'start' is 'end'. With CLEAR, the next scan finds
 * REFERENCED only what is used after this one; what reclaim knows of the pages is kept.
 * ESRCH: there is no such process, or it has no memory (any more).
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
	__u64 nodes[LWKPART_SCAN_NODES / 64]; /* in: a bit for each node that counts */
	__u64 physical_start;		      /* in: only pages that begin in this range */
	__u64 physical_end;		      /* in: 0: no such range */
	__u64 reserved;
};

/* In the lower bits of the addresses that SCAN lists. */
#define LWKPART_PAGE_REFERENCED 0x001UL /* used since its Accessed bit was last cleared */
#define LWKPART_PAGE_HUGE 0x002UL	/* 2 MB */
#define LWKPART_PAGE_GIANT 0x004UL	/* 1 GB; HUGE is set too */
#define LWKPART_PAGE_HUGETLB 0x008UL	/* of hugetlbfs */
#define LWKPART_PAGE_SHARED 0x010UL	/* mapped more than once */
#define LWKPART_PAGE_FILE 0x020UL	/* of a file or shared memory */
#define LWKPART_PAGE_KSM 0x040UL	/* one for many with the same content */
#define LWKPART_PAGE_MLOCKED 0x080UL
#define LWKPART_PAGE_HINTED 0x100UL /* not accessible now: NUMA balancing, or PROT_NONE */

/*
 * Moves pages of 4 KB that a process has, anonymous ones that nobody else has, to a NUMA node, as
 * move_pages(2) does it, but in less time; neighbours together, so name them by address. What the
 * process may have by its cpuset is not looked at. 'status' has the node of each that was moved, and
 * -EAGAIN for the others, which move_pages(2) can try: of another kind, in use by the kernel, not
 * there (any more), already on that node, or without room. ESRCH: there is no such process, or it has
 * no memory (any more). EOPNOTSUPP: this kernel cannot do it. EINTR: killed before all was tried.
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
