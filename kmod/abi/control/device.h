/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The control device, and what the module is. */
#ifndef ABI_CONTROL_DEVICE_H
#define ABI_CONTROL_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LWKPART_ABI_VERSION 1
#define LWKPART_DEVICE "/dev/lwkpart"
#define LWKPART_IOC 0xb7

/* What the module is and has lent in all. */
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
