/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/calls/cpus.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/membarrier.h>

#include "abi/shared/boot.h"
#include "abi/shared/orders.h"
#include "abi/shared/statistics.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/memory/tlb.h"
#include "lwk/memory/user.h"
#include "lwk/process/process.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"

/* The most CPUs that a Linux kernel of the distributions can have. */
#define LINUX_CPUS 8192

/* May this process have threads on the CPU: is it one of its own, or free? */
static bool may_use(u32 index)
{
	bool free = true;

	for (u32 i = index; i < boot->n_slots; i += boot->n_cpus) {
		const struct process *process = LOAD_ACQUIRE(slot_at(i)->process);

		if (process == this_process())
			return true;
		if (process || READ_ONCE(slot_at(i)->control->order) != LWK_ORDER_NONE)
			free = false;
	}
	return free;
}

static bool is_own(u32 tid)
{
	for (u32 i = 0; i < boot->n_slots; i++)
		if (LOAD_ACQUIRE(slot_at(i)->process) == this_process() &&
		    READ_ONCE(slot_at(i)->thread.tid) == tid)
			return true;
	return !tid;
}

/*
 * The result is the CPUs on which the process has or can have threads, by Linux's numbers. Linux
 * answers for other processes.
 */
s64 sys_sched_getaffinity(struct frame *frame)
{
	u64 mask[LINUX_CPUS / 64] = { 0 }, bytes = 0;
	u64 args[6] = { frame->rdi, frame->rsi, frame->rdx };

	if (!is_own(frame->rdi)) {
		this_slot()->status->delegated_calls[LWK_CALLS_PROCESS]++;
		return channel_request(__NR_sched_getaffinity, args);
	}
	for (u32 i = 0; i < boot->n_cpus; i++) {
		u32 linux_cpu = boot->cpus[i].linux_cpu;

		/* The length does not depend on other processes. */
		bytes = MAX(bytes, linux_cpu / 64 * 8 + 8UL);
		if (linux_cpu < LINUX_CPUS && may_use(i))
			mask[linux_cpu / 64] |= 1UL << linux_cpu % 64;
	}
	bytes = MIN(bytes, sizeof(mask));
	if (frame->rsi < bytes || frame->rsi % sizeof(u64))
		return -EINVAL;
	return copy_to_user(frame->rdx, mask, bytes) ? -EFAULT : (s64)bytes;
}

/* A thread has its CPU and cannot go to another. */
s64 sys_sched_setaffinity(struct frame *frame)
{
	u32 linux_cpu = boot->cpus[this_slot()->cpu->index].linux_cpu;
	u8 byte;

	if (frame->rsi <= linux_cpu / 8)
		return -EINVAL;
	if (copy_from_user(&byte, frame->rdx + linux_cpu / 8, 1))
		return -EFAULT;
	return byte & 1 << linux_cpu % 8 ? 0 : -EINVAL;
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
	struct space *space = &this_process()->space;

	if (frame->rsi)
		return -EINVAL;
	switch ((u32)frame->rdi) {
	case MEMBARRIER_CMD_QUERY:
		return MEMBARRIER_CMD_PRIVATE_EXPEDITED |
		       MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED |
		       MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |
		       MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE;
	case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
	case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE:
		return 0;
	case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
	case MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE:
		/* A CPU loads CR3 for it, which orders its memory accesses and its instructions. */
		spin_lock(&space->lock);
		tlb_flush_everywhere(space);
		spin_unlock(&space->lock);
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
