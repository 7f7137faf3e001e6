/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Counters on an instance's CPUs. */
#ifndef ABI_DEVICE_COUNTERS_H
#define ABI_DEVICE_COUNTERS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/device/device.h"
#include "abi/shared/counters.h"

/*
 * What the instance's CPUs count, all of them the same: SET new counters instead of those there
 * were (none: count 0), which begin at 0 and stand still; START and STOP; GET changes nothing.
 * All fields but command are outputs, and with SET count and counters are inputs. Returns when all
 * CPUs have seen to it, which interrupts them; GET does not.
 *
 * The values are in LWK_GET_USAGE, for CPUs whose lwk_cpu_counters.order is 'order'. ETIMEDOUT:
 * some CPU was busy for long; it follows when it can. EHOSTDOWN: the instance has no processes
 * (any more), or never will. EINVAL.
 */
enum lwk_counters_command {
	LWK_COUNTERS_GET = 0,
	LWK_COUNTERS_SET,
	LWK_COUNTERS_START,
	LWK_COUNTERS_STOP,
};

struct lwk_counters {
	__u32 command; /* enum lwk_counters_command */
	__u32 order;
	__u32 running;
	__u32 count;
	struct lwk_counter counters[LWK_MAX_COUNTERS];
};

#define LWK_COUNTERS _IOWR(LWK_IOC, 0x0c, struct lwk_counters)

#endif
