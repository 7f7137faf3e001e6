/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Counters on an instance's CPUs. */
#ifndef ABI_DEVICE_COUNTERS_H
#define ABI_DEVICE_COUNTERS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/device/device.h"
#include "abi/shared/counters.h"

/*
 * All CPUs of an instance have the same counters. SET replaces them by new ones (or none: count 0),
 * which begin at 0 and stand still; START and STOP let them run and stand still; GET changes
 * nothing. All fields except 'command' are outputs; with SET, 'count' and 'counters' are inputs.
 * SET, START and STOP interrupt all CPUs and return when all have followed.
 *
 * LWK_GET_USAGE has the values, for CPUs whose lwk_cpu_counters.order is 'order'. ETIMEDOUT:
 * a CPU is busy, and follows when it can; EHOSTDOWN: the instance's state allows no processes;
 * EINVAL.
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
