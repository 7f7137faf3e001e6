/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/watch/registers.h"

#include "abi/shared/status.h"
#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/process/slot.h"

static struct lwk_registers *saved; /* by the CPU's index */

_Static_assert(offsetof(struct lwk_registers, rip) - offsetof(struct lwk_registers, r15) ==
		       offsetof(struct frame, vector),
	       "the same registers, in the same order");

void registers_init(void)
{
	struct lwk_registers *all = kernel_boot_alloc(boot->n_cpus * sizeof(*all));

	saved = all;
	status->registers = virt_to_phys(all) - boot->reserve_start;
}

void registers_save(const struct slot *slot, const struct frame *frame)
{
	struct lwk_registers *to;

	if (!saved)
		return;
	to = &saved[slot->cpu->index];
	/* The registers of the first call show the cause. */
	if (to->known)
		return;
	memcpy(&to->r15, frame, offsetof(struct frame, vector));
	to->rip = frame->rip;
	to->cs = frame->cs;
	to->rflags = frame->rflags;
	to->rsp = frame->rsp;
	to->ss = frame->ss;
	to->fs_base = read_msr(MSR_FS_BASE);
	/* While the kernel runs, the process's GS base is in the other MSR. */
	to->gs_base = read_msr(frame->cs & 3 ? MSR_KERNEL_GS_BASE : MSR_GS_BASE);
	to->cr2 = read_cr2();
	to->cr3 = read_cr3();
	STORE_RELEASE(to->known, 1);
}
