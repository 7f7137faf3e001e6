/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words among the arguments of the hostile image, about the answers to what lwkpart.ko asks (struct
 * lwk_control):
 *   answers=late    it gives each page of a file back, after seconds
 *   answers=refuse  it says that it does not give such pages back
 *   answers=hide    it wants each page that a proxy touches to be hidden first, again and again
 */
#include <linux/errno.h>

#include "abi/shared/orders.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/fault.h"
#include "lwk/process/slot.h"
#include "lwk/time/clock.h"
#include "lwk/watch/account.h"

#define SECOND 1000000000UL

void __real_space_revoke(struct space *space, u64 addr, u64 size);
void __wrap_space_revoke(struct space *space, u64 addr, u64 size);
int __real_space_fault(struct space *space, u64 addr, bool write, bool exec, bool asks);
int __wrap_space_fault(struct space *space, u64 addr, bool write, bool exec, bool asks);

static void dawdle(u64 ns)
{
	u64 end = clock_monotonic() + ns;

	for (; clock_monotonic() < end; cpu_relax())
		still_alive();
}

/* The caller gives the true answer afterwards, when Linux has read this one. */
static void refuse(const struct slot *slot)
{
	STORE_RELEASE(slot->control->fault_state, LWK_FAULT_REFUSED);
	memory_barrier();
	if (READ_ONCE(slot->control->fault_sleeps))
		apic_ring_linux(slot->index % boot->n_cpus);
	dawdle(SECOND);
}

void __wrap_space_revoke(struct space *space, u64 addr, u64 size)
{
	if (boot_option("answers=late"))
		dawdle(5 * SECOND);
	__real_space_revoke(space, addr, size);
	if (boot_option("answers=refuse"))
		refuse(this_slot());
}

int __wrap_space_fault(struct space *space, u64 addr, bool write, bool exec, bool asks)
{
	/* A program's own faults have 'asks'. */
	if (asks || !boot_option("answers=hide"))
		return __real_space_fault(space, addr, write, exec, asks);
	dawdle(SECOND);
	return -EAGAIN;
}
