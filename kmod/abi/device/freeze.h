/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Freezing an instance. */
#ifndef ABI_DEVICE_FREEZE_H
#define ABI_DEVICE_FREEZE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/device/device.h"

/*
 * With 'frozen' 1, the LWK's processes stand still and its CPUs halt; with 0 they go on. Returns
 * when that is done. ETIMEDOUT: a CPU did not halt in timeout_ms, and all go on; EHOSTDOWN: the
 * instance is neither RUNNING nor FROZEN.
 */
struct lwk_freeze {
	__u32 frozen;
	__u32 timeout_ms; /* 1…60000 */
};

#define LWK_FREEZE _IOW(LWK_IOC, 0x09, struct lwk_freeze)

#endif
