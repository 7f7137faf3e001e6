// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps an LWK's clock with Linux's: the LWK's CPUs scale their TSCs, and are told from time to
 * time by which factors.
 */
#include "instance/clock.h"

#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <asm/tsc.h>

#include "compat/compat.h"

/* Readings of both clocks at a time. The closest pair counts, as an interrupt may come between. */
#define LOOKS 5
/* An LWK clock that is further behind Linux's is set at once. */
#define STEP_NS ((s64)NSEC_PER_MSEC)
/* One that is ahead must not go back. It is slowed down, at most by this much per second. */
#define SLOW_NS ((s64)NSEC_PER_SEC / 8)
/* The measured rate may differ from tsc_khz by at most 1/RATE_SHARE; more is an error. */
#define RATE_SHARE 64

static void read_clocks(struct clock_reading *at)
{
	u64 before, ns, after, closest = U64_MAX;
	unsigned int i;

	for (i = 0; i < LOOKS; i++) {
		before = rdtsc_ordered();
		ns = ktime_get_ns();
		after = rdtsc_ordered();
		if (after - before >= closest)
			continue;
		closest = after - before;
		at->tsc = before + closest / 2;
		at->ns = ns;
	}
}

/* Nanoseconds per TSC cycle, in units of 2^-32, by Linux's clock since the last reading. */
static u64 rate(const struct clock_reading *last, const struct clock_reading *now)
{
	u64 nominal = div_u64((u64)NSEC_PER_MSEC << 32, tsc_khz);
	u64 ns = now->ns - last->ns;
	s64 cycles = now->tsc - last->tsc;

	/*
	 * Over a short time the readings are too inexact, and a TSC that stood still tells nothing.
	 */
	if (!last->tsc || ns < NSEC_PER_SEC / 2 || cycles <= (s64)(ns >> 8))
		return nominal;
	return clamp(mul_u64_u64_div_u64(ns, 1ULL << 32, cycles), nominal - nominal / RATE_SHARE,
		     nominal + nominal / RATE_SHARE);
}

void clock_publish(struct lwk_clock *clock, struct clock_published *last)
{
	struct lwk_clock next = {}, *shown = &last->clock;
	struct clock_reading now;
	unsigned long flags;
	s64 cycles, ahead;

	local_irq_save(flags);
	read_clocks(&now);
	cycles = max_t(s64, now.tsc - shown->tsc_base, 0);
	next.seq = shown->seq + 2;
	next.tsc_base = now.tsc;
	next.mult = rate(&last->reading, &now);
	next.monotonic_ns = shown->monotonic_ns + mul_u64_u64_shr(cycles, shown->mult, 32);
	ahead = next.monotonic_ns - now.ns;
	if (!shown->seq || ahead < -STEP_NS)
		next.monotonic_ns = now.ns;
	else
		/* The clocks agree at the next publication, in a second. */
		next.mult -= div_s64((s64)next.mult * min(ahead, SLOW_NS), NSEC_PER_SEC);
	next.offset_ns[LWK_CLOCK_REALTIME] = ktime_mono_to_any(0, TK_OFFS_REAL);
	next.offset_ns[LWK_CLOCK_BOOTTIME] = ktime_mono_to_any(0, TK_OFFS_BOOT);
	next.offset_ns[LWK_CLOCK_TAI] = ktime_mono_to_any(0, TK_OFFS_TAI);

	WRITE_ONCE(clock->seq, next.seq - 1);
	smp_wmb();
	WRITE_ONCE(clock->tsc_base, next.tsc_base);
	WRITE_ONCE(clock->mult, next.mult);
	WRITE_ONCE(clock->monotonic_ns, next.monotonic_ns);
	memcpy(clock->offset_ns, next.offset_ns, sizeof(clock->offset_ns));
	smp_wmb();
	WRITE_ONCE(clock->seq, next.seq);
	local_irq_restore(flags);
	*shown = next;
	last->reading = now;
	last->when = jiffies;
}
