/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/calls/delegate.h"
#include "lwk/calls/local.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/membarrier.h>

#include "abi/shared/boot.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/memory/user.h"
#include "lwk/paging/tlb.h"
#include "lwk/process/affinity.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"

/* The most CPUs that a Linux kernel of the distributions can have. */
#define LINUX_CPUS 8192

/* Returns the slot of the thread; 0: the calling one. NULL: no such thread. */
static struct slot *find_thread(u32 tid)
{
	struct slot *slot = tid ? thread_find(tid) : this_slot();

	return slot && LOAD_ACQUIRE(slot->process) ? slot : NULL;
}

/*
 * The result is the CPUs that the thread can use, by Linux's numbers: without sched_setaffinity(2)
 * those on which its process has or can have threads.
 */
s64 sys_sched_getaffinity(struct frame *frame)
{
	u64 mask[LINUX_CPUS / 64] = { 0 }, bytes = 0;
	const struct slot *slot = find_thread(frame->rdi);
	struct cpu_set set;

	/* Linux answers for processes that are not on the LWK. */
	if (!slot)
		return call_delegate(frame, LWK_CALLS_PROCESS, true);
	set = affinity_usable(slot);
	for (u32 i = 0; i < boot->n_cpus; i++) {
		u32 linux_cpu = boot->cpus[i].linux_cpu;

		/* The length does not depend on other processes. */
		bytes = MAX(bytes, linux_cpu / 64 * 8 + 8UL);
		if (linux_cpu < LINUX_CPUS && cpu_set_has(&set, i))
			mask[linux_cpu / 64] |= 1UL << linux_cpu % 64;
	}
	bytes = MIN(bytes, sizeof(mask));
	if (frame->rsi < bytes || frame->rsi % sizeof(u64))
		return -EINVAL;
	return copy_to_user(frame->rdx, mask, bytes) ? -EFAULT : (s64)bytes;
}

s64 sys_sched_setaffinity(struct frame *frame)
{
	struct slot *slot = find_thread(frame->rdi);
	u8 mask[LINUX_CPUS / 8] = { 0 };
	struct cpu_set set = { { 0 } };

	if (copy_from_user(mask, frame->rdx, MIN(frame->rsi, sizeof(mask))))
		return -EFAULT;
	/* A process of Linux stays as it is. */
	if (!slot)
		return channel_call(PROCESS, __NR_sched_getscheduler, frame->rdi) < 0 ? -ESRCH
										      : -EPERM;
	for (u32 i = 0; i < boot->n_cpus; i++) {
		u32 linux_cpu = boot->cpus[i].linux_cpu;

		if (linux_cpu < LINUX_CPUS && mask[linux_cpu / 8] >> linux_cpu % 8 & 1)
			cpu_set_add(&set, i);
	}
	if (cpu_set_is_empty(&set))
		return -EINVAL;
	affinity_set(slot, &set);
	return 0;
}

s64 sys_sched_yield(struct frame *frame)
{
	/* Most threads have a CPU of their own, and the call costs them next to nothing. */
	if (this_slot()->cpu->n_busy > 1)
		slot_yield();
	return 0;
}

s64 sys_membarrier(struct frame *frame)
{
	struct process *process = this_process();
	u32 command = frame->rdi;

	if (frame->rsi)
		return -EINVAL;
	switch (command) {
	case MEMBARRIER_CMD_QUERY:
		return MEMBARRIER_CMD_PRIVATE_EXPEDITED |
		       MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED |
		       MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |
		       MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE;
	case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
	case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE:
		/* The bit of each command is half of the one that registers for it. */
		__atomic_or_fetch(&process->barriers, command / 2, __ATOMIC_RELAXED);
		return 0;
	case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
	case MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE:
		if (!(READ_ONCE(process->barriers) & command))
			return -EPERM;
		/* A CPU loads CR3 for it, which orders its memory accesses and its instructions. */
		spin_lock(&process->space.lock);
		tlb_flush_everywhere(&process->space);
		spin_unlock(&process->space.lock);
		return 0;
	default:
		return -EINVAL;
	}
}

s64 sys_getcpu(struct frame *frame)
{
	const struct lwk_boot_cpu *cpu = &boot->cpus[this_slot()->cpu->index];

	if ((frame->rdi && copy_to_user(frame->rdi, &cpu->linux_cpu, sizeof(u32))) ||
	    (frame->rsi && copy_to_user(frame->rsi, &cpu->node, sizeof(u32))))
		return -EFAULT;
	return 0;
}
