/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/process/slot.h"

#include "abi/shared/layout.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/entry.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/machine_check.h"
#include "lwk/machine/x86.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/process/schedule.h"
#include "lwk/proxy/channel.h"
#include "lwk/time/clock.h"
#include "lwk/watch/account.h"

/* The slot in which the first CPU boots, and all others: those of the other CPUs come first. */
static struct slot first_slot, *more_slots;

struct slot *slot_at(u32 index)
{
	return index ? &more_slots[index - 1] : &first_slot;
}

void slots_init(void)
{
	more_slots = kernel_boot_alloc((boot->n_slots - 1) * sizeof(*more_slots));
	for (u32 index = 0; index < boot->n_slots; index++)
		slot_at(index)->kernel_rsp = (u64)direct_map_stack(KERNEL_STACK) + KERNEL_STACK;
}

void slot_boot(struct cpu *cpu)
{
	struct slot *slot = slot_at(cpu->index);

	slot->self = slot;
	slot->cpu = cpu;
	cpu->current = cpu->own = slot;
	write_msr(MSR_GS_BASE, (u64)slot);
}

static void slot_setup(struct slot *slot, u32 index)
{
	slot->self = slot;
	slot->index = index;
	slot->channel = (struct lwk_channel *)phys_to_virt(boot->channels) + index;
	slot->control = (struct lwk_control *)phys_to_virt(boot->controls) + index;
	slot->status = &status->cpu[index];
	slot->status->times.since_tsc = LWK_TIME_STANDS;
	slot->deadline = NO_DEADLINE;
	slot->fpu_area = kernel_boot_alloc(fpu_size());
	slot->fpu_switched = kernel_boot_alloc(fpu_size());
}

void slot_prepare(struct slot *slot)
{
	/* switch_stack() enters restart_slot(). */
	slot->rsp = slot->kernel_rsp - (SWITCH_REGISTERS + 1) * sizeof(u64);
	*(u64 *)(slot->kernel_rsp - sizeof(u64)) = (u64)restart_slot;
	slot->fs_base = slot->gs_base = 0;
	STORE_RELEASE(slot->free, 1);
}

void slots_setup(struct cpu *cpu)
{
	struct slot *slot = cpu->current;

	slot_setup(slot, cpu->index);
	slot->node = boot->cpus[cpu->index].node;
	slot->next = slot;
	for (u32 index = cpu->index + boot->n_cpus; index < boot->n_slots; index += boot->n_cpus) {
		struct slot *more = slot_at(index);

		slot_setup(more, index);
		more->root = read_cr3();
		slot_prepare(more);
	}
	slot->status->times.since_tsc = rdtsc();
}

void slot_loop(void)
{
	struct slot *slot = this_slot();

	slot_arrive();
	/* A thread has ended, and its process has not. */
	if (slot->process)
		thread_park();
	account(LWK_CPU_IDLE);
	machine_check_report();
	while (slot == slot->cpu->own)
		slot_sleep(never);
	while (!channel_ordered(slot))
		slot_move(NULL);
	if (READ_ONCE(slot->control->order) == LWK_ORDER_THREAD)
		thread_join();
	process_run();
}
