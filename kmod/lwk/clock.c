/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time: the TSC, scaled as Linux's own clock; Linux renews the reference now and then. */
#include "lwk.h"

u64 clock_cycles_to_ns(u64 cycles)
{
	struct cpu *cpu = this_cpu();
	u32 khz = READ_ONCE(boot->tsc_khz);

	/* Divisions take longer than all the rest of clock_gettime(2). */
	if (khz != cpu->tsc_khz) {
		cpu->tsc_khz = khz;
		cpu->ns_per_cycle = (1000000UL << 32) / khz;
	}
	return (unsigned __int128)cycles * cpu->ns_per_cycle >> 32;
}

static u64 clock_read(const __s64 *reference)
{
	u32 seq;
	u64 base, ns;

	do {
		while ((seq = LOAD_ACQUIRE(boot->clock_seq)) & 1)
			cpu_relax();
		base = READ_ONCE(boot->tsc_base);
		ns = READ_ONCE(*reference);
		compiler_barrier();
	} while (READ_ONCE(boot->clock_seq) != seq);
	return ns + clock_cycles_to_ns(rdtsc() - base);
}

u64 clock_monotonic(void)
{
	struct cpu *cpu = this_cpu();
	u64 now = clock_read(&boot->monotonic_ns);

	/* A renewed reference may be a little earlier; the clock never is. */
	if (now < cpu->last_monotonic)
		return cpu->last_monotonic;
	cpu->last_monotonic = now;
	return now;
}

u64 clock_realtime(void)
{
	return clock_read(&boot->realtime_ns);
}

s64 clock_read_time(u64 addr, u64 *ns)
{
	struct {
		s64 sec, nsec;
	} time;

	*ns = NO_DEADLINE;
	if (copy_from_user(&time, addr, sizeof(time)))
		return -EFAULT;
	if (time.sec < 0 || time.nsec < 0 || time.nsec >= 1000000000)
		return -EINVAL;
	if (__builtin_mul_overflow((u64)time.sec, 1000000000UL, ns) ||
	    __builtin_add_overflow(*ns, (u64)time.nsec, ns))
		*ns = NO_DEADLINE;
	return 0;
}
