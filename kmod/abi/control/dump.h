/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The memory of an LWK's kernel, for a dump. */
#ifndef ABI_CONTROL_DUMP_H
#define ABI_CONTROL_DUMP_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/control/device.h"

/*
 * The memory of an LWK's kernel is 'bytes' from the physical address 'start' on. The LWK
 * has it at LWK_DIRECT_MAP + start, and parts of it, the image's segments, also at 'address'.
 * DUMP_LAYOUT sends the CPUs of an LWK that is HUNG an NMI, so that they write their registers
 * there. ENOENT: the job has no such instance; ENODATA: nothing is loaded.
 */
#define LWKPART_MAX_SEGMENTS 32
struct lwkpart_dump_segment {
	__u64 address; /* in the LWK */
	__u64 start;   /* physical */
	__u64 size;
};

struct lwkpart_dump_layout {
	__u32 instance; /* in */
	__u32 job_id;	/* in */
	__u64 start;	/* out */
	__u64 bytes;	/* out; grows while the LWK runs */
	__u32 count;	/* out: of segments */
	__u32 reserved32;
	__u64 reserved[4];
	struct lwkpart_dump_segment segments[LWKPART_MAX_SEGMENTS]; /* out */
};

/* DUMP copies that memory out from 'offset' on, while the LWK goes on. Errors: as DUMP_LAYOUT. */
#define LWKPART_MAX_DUMP (1UL << 20)
struct lwkpart_dump {
	__u32 instance; /* in */
	__u32 job_id;	/* in */
	__u64 offset;	/* in: from 'start' */
	__u64 buffer;	/* in: user address */
	__u64 size;	/* in: up to LWKPART_MAX_DUMP; out: bytes copied, 0 at the end */
	__u64 reserved;
};

#define LWKPART_DUMP_LAYOUT _IOWR(LWKPART_IOC, 0x11, struct lwkpart_dump_layout)
#define LWKPART_DUMP _IOWR(LWKPART_IOC, 0x12, struct lwkpart_dump)

#endif
