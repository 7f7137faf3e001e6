/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/process/core.h"

#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/fpu.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/fault.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/watch/account.h"

static void tell_words(u32 tid, const u64 *words, u64 n)
{
	for (u64 i = 0; i < n; i += LWK_CORE_WORDS) {
		u64 args[6] = { tid };

		memcpy(args + 1, words + i, MIN(n - i, LWK_CORE_WORDS) * sizeof(u64));
		channel_call_counted(LWK_CALLS_PROCESS, LWK_CALL_CORE_THREAD, args);
	}
}

/* True when the slot's thread does not run: its user registers are at its stack's end. */
static bool stands(const struct slot *slot)
{
	const struct cpu *cpu = LOAD_ACQUIRE(slot->cpu);

	return !cpu || LOAD_ACQUIRE(cpu->current) != slot || LOAD_ACQUIRE(slot->ready);
}

static void tell_thread(const struct slot *slot)
{
	struct lwk_core_registers registers;

	while (slot != this_slot() && !stands(slot))
		process_looks();
	memcpy(registers.frame, (const struct frame *)slot->kernel_rsp - 1, sizeof(struct frame));
	registers.fs_base = slot->fs_base;
	registers.gs_base = slot->gs_base;
	/* A thread that was to begin just now has not been in user mode. */
	if (((const struct frame *)registers.frame)->cs == USER_CS)
		tell_words(slot->thread.tid, registers.frame, sizeof(registers) / sizeof(u64));
}

static void tell_pages(struct space *space, const struct area *area)
{
	for (u64 start = area->start, end; start < area->end; start = end + PAGE_SIZE) {
		for (end = start; end < area->end && space_page(space, end) >= 0; end += PAGE_SIZE)
			still_alive();
		if (end > start)
			channel_call(PROCESS, LWK_CALL_CORE_PAGES, start, end);
		still_alive();
	}
}

void core_tell(int signal)
{
	struct slot *slot = this_slot();
	struct space *space = &slot->process->space;
	struct area area = { 0 };

	if (!signal || channel_call(PROCESS, LWK_CALL_CORE, signal) <= 0)
		return;
	slot->fs_base = read_msr(MSR_FS_BASE);
	slot->gs_base = read_msr(MSR_KERNEL_GS_BASE);
	tell_thread(slot);
	fpu_save(slot->fpu_area);
	tell_words(slot->thread.tid, slot->fpu_area, LWK_CORE_FPU_WORDS);
	for (u32 i = boot->n_cpus; i < boot->n_slots; i++)
		if (slot_at(i) != slot && LOAD_ACQUIRE(slot_at(i)->process) == slot->process &&
		    !READ_ONCE(slot_at(i)->parked))
			tell_thread(slot_at(i));
	space_tell(space);
	while (space_find_area(space, area.end, &area))
		if (!area.shared && !area.sparse && area.prot)
			tell_pages(space, &area);
}
