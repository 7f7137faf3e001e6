/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The console text of an instance. */
#ifndef ABI_CONTROL_KMSG_H
#define ABI_CONTROL_KMSG_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/control/device.h"

/*
 * Copies console text out. 'position' counts all bytes that the LWK has ever written: pass
 * 0 first, then the value that came back. Text that the ring has lost is skipped. One call copies
 * as much as the ring holds at most.
 */
struct lwkpart_kmsg {
	__u32 instance;
	__u32 flags;
	__u64 position; /* in/out */
	__u64 buffer;	/* user address */
	__u32 capacity; /* in: bytes of buffer */
	__u32 length;	/* out: bytes copied */
};

#define LWKPART_KMSG _IOWR(LWKPART_IOC, 0x0e, struct lwkpart_kmsg)

#endif
