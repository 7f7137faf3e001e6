/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/paging/tlb.h"

#include "abi/shared/layout.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/process/slot.h"

static void flush_tlb(void)
{
	write_cr3(read_cr3());
}

void tlb_follow(struct space *space)
{
	struct cpu *cpu = this_slot()->cpu;
	u64 generation = LOAD_ACQUIRE(space->tlb_generation);

	if (cpu->tlb_seen == generation)
		return;
	flush_tlb();
	STORE_RELEASE(cpu->tlb_seen, generation);
}

/*
 * True when the CPU has forgotten old entries, or will before it uses them. A CPU in the kernel
 * follows in leave_kernel(); one that runs another process follows when it goes on with this one.
 */
static bool has_followed(const struct cpu *cpu, const struct process *process, u64 generation)
{
	const struct slot *current = LOAD_ACQUIRE(cpu->current);

	return LOAD_ACQUIRE(current->process) != process ||
	       LOAD_ACQUIRE(cpu->tlb_seen) == generation ||
	       READ_ONCE(current->status->heartbeat) & 1;
}

void tlb_flush_everywhere(struct space *space)
{
	struct process *process = this_process();
	u64 generation = __atomic_add_fetch(&space->tlb_generation, 1, __ATOMIC_SEQ_CST);

	flush_tlb();
	this_slot()->cpu->tlb_seen = generation;
	if (READ_ONCE(process->n_slots) == 1)
		return;
	for (u32 i = 0; i < boot->n_cpus; i++)
		if (!has_followed(cpu_at(i), process, generation))
			apic_send(boot->cpus[i].apicid, LWK_DOORBELL_VECTOR);
	for (u32 i = 0; i < boot->n_cpus; i++)
		while (!has_followed(cpu_at(i), process, generation))
			cpu_relax();
}
