/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/calls/local.h"

#include <asm/prctl.h>
#include <linux/errno.h>

#include "abi/shared/layout.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/user.h"
#include "lwk/process/slot.h"

s64 sys_getpid(struct frame *frame)
{
	return this_process()->pid;
}

s64 sys_gettid(struct frame *frame)
{
	return this_thread()->tid;
}

s64 sys_arch_prctl(struct frame *frame)
{
	/* In the kernel the user's GS base is in MSR_KERNEL_GS_BASE. */
	u32 msr = frame->rdi == ARCH_SET_FS || frame->rdi == ARCH_GET_FS ? MSR_FS_BASE
									 : MSR_KERNEL_GS_BASE;
	u64 base;

	switch (frame->rdi) {
	case ARCH_SET_FS:
	case ARCH_SET_GS:
		if (frame->rsi >= LWK_USER_END)
			return -EPERM;
		write_msr(msr, frame->rsi);
		return 0;
	case ARCH_GET_FS:
	case ARCH_GET_GS:
		base = read_msr(msr);
		return copy_to_user(frame->rsi, &base, sizeof(base));
	/* CPUID does not fault here, as on a CPU that cannot make it fault. */
	case ARCH_GET_CPUID:
		return 1;
	case ARCH_SET_CPUID:
		return -ENODEV;
	default:
		return -EINVAL;
	}
}

s64 sys_exit_group(struct frame *frame)
{
	process_exit((frame->rdi & 0xff) << 8);
}
