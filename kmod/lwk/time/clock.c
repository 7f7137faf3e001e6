/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time: the TSC, scaled as Linux scales it; Linux updates the scale now and then. */
#include "lwk/time/clock.h"

#include <linux/errno.h>

#include "lwk/machine/boot.h"
#include "lwk/memory/user.h"
#include "lwk/paging/direct_map.h"
#include "lwk/process/slot.h"
#include "lwk/time/read.h"

u64 clock_cycles_to_ns(u64 cycles)
{
	struct slot *slot = this_slot();
	u32 khz = READ_ONCE(boot->tsc_khz);

	/* A division would take longer than the rest of clock_gettime(2). */
	if (khz != slot->tsc_khz) {
		slot->tsc_khz = khz;
		slot->ns_per_cycle = (1000000UL << 32) / khz;
	}
	return (unsigned __int128)cycles * slot->ns_per_cycle >> 32;
}

u64 clock_now(enum lwk_clock_kind kind)
{
	return clock_read(phys_to_virt(boot->clock), kind);
}

u64 clock_monotonic(void)
{
	return clock_now(LWK_CLOCK_MONOTONIC);
}

bool clock_to_ns(s64 sec, s64 part, s64 unit, u64 *ns)
{
	if (sec < 0 || part < 0 || part >= 1000000000 / unit)
		return false;
	if (__builtin_mul_overflow((u64)sec, 1000000000UL, ns) ||
	    __builtin_add_overflow(*ns, (u64)(part * unit), ns))
		*ns = NO_DEADLINE;
	return true;
}

s64 clock_read_time(u64 addr, u64 *ns)
{
	struct {
		s64 sec, nsec;
	} time;

	*ns = NO_DEADLINE;
	if (copy_from_user(&time, addr, sizeof(time)))
		return -EFAULT;
	return clock_to_ns(time.sec, time.nsec, 1, ns) ? 0 : -EINVAL;
}

s64 clock_read_deadline(u64 addr, enum wait_end end, u64 *deadline)
{
	u64 real = end == WAIT_UNTIL_REALTIME ? clock_now(LWK_CLOCK_REALTIME) : 0;
	s64 error = 0;

	*deadline = NO_DEADLINE;
	if (addr)
		error = clock_read_time(addr, deadline);
	if (*deadline != NO_DEADLINE)
		*deadline -= MIN(*deadline, real);
	if (end != WAIT_UNTIL && __builtin_add_overflow(*deadline, clock_monotonic(), deadline))
		*deadline = NO_DEADLINE;
	return error;
}
