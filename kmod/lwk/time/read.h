/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading struct lwk_clock, in the kernel and in programs' own mode (vdso.c). */
#ifndef LWK_TIME_READ_H
#define LWK_TIME_READ_H

#include <linux/time.h>
#include <stdint.h>

#include "abi/shared/clock.h"
#include "lwk/machine/x86.h"

/* Returns nanoseconds. The TSC is read within the loop, so that it belongs to the values read. */
static inline uint64_t clock_read(const struct lwk_clock *clock, enum lwk_clock_kind kind)
{
	uint64_t ns, cycles;
	uint32_t seq;

	do {
		while ((seq = __atomic_load_n(&clock->seq, __ATOMIC_ACQUIRE)) & 1)
			cpu_relax();
		/* Another CPU's TSC may have been a little ahead when Linux wrote. */
		cycles = rdtsc() - *(const volatile __u64 *)&clock->tsc_base;
		if ((int64_t)cycles < 0)
			cycles = 0;
		ns = ((unsigned __int128)cycles * *(const volatile __u64 *)&clock->mult >> 32) +
		     *(const volatile __s64 *)&clock->monotonic_ns +
		     *(const volatile __s64 *)&clock->offset_ns[kind];
		compiler_barrier();
	} while (__atomic_load_n(&clock->seq, __ATOMIC_RELAXED) != seq);
	return ns;
}

/* The kind of a clock by its number in <linux/time.h>; LWK_CLOCK_KINDS: none of these. */
static inline enum lwk_clock_kind clock_kind(uint64_t id)
{
	switch (id) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		return LWK_CLOCK_REALTIME;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
		return LWK_CLOCK_MONOTONIC;
	case CLOCK_BOOTTIME:
		return LWK_CLOCK_BOOTTIME;
	case CLOCK_TAI:
		return LWK_CLOCK_TAI;
	default:
		return LWK_CLOCK_KINDS;
	}
}

#endif
