/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Linux's clock, as the LWK and its programs read it. */
#ifndef ABI_SHARED_CLOCK_H
#define ABI_SHARED_CLOCK_H

#include <linux/types.h>

/*
 * The clock is alone in a page. At TSC value tsc_base CLOCK_MONOTONIC is monotonic_ns, and mult /
 * 2^32 nanoseconds pass in a cycle; other clocks are ahead of it by offset_ns. seq is odd while
 * Linux writes. Each new set of values begins at the time at which the last one ended, or later, so
 * CLOCK_MONOTONIC never goes back.
 */
enum lwk_clock_kind {
	LWK_CLOCK_MONOTONIC, /* always 0 */
	LWK_CLOCK_REALTIME,
	LWK_CLOCK_BOOTTIME,
	LWK_CLOCK_TAI,
	LWK_CLOCK_KINDS
};
struct lwk_clock {
	__u32 seq;
	__u32 reserved;
	__u64 tsc_base;
	__u64 mult;
	__s64 monotonic_ns;
	__s64 offset_ns[LWK_CLOCK_KINDS];
};

#endif
