/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The control device, and the totals of what it has lent. */
#ifndef ABI_CONTROL_DEVICE_H
#define ABI_CONTROL_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LWKPART_ABI_VERSION 2
#define LWKPART_DEVICE "/dev/lwkpart"
#define LWKPART_IOC 0xb7

/* The module's version, and the totals of what it has lent. */
struct lwkpart_info {
	__u32 abi_version; /* out: LWKPART_ABI_VERSION */
	__u32 instances;   /* out: instances that exist */
	__u32 lent_cpus;   /* out */
	__u32 lent_ranges; /* out: memory ranges in the ledger */
	__u64 lent_bytes;  /* out */
	__u64 block_bytes; /* out: size of Linux's memory blocks */
	__u64 reserved[4];
};

#define LWKPART_GET_INFO _IOR(LWKPART_IOC, 0x00, struct lwkpart_info)

#endif
