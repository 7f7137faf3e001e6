/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The counters that Linux asks for on the CPUs of an instance. */
#ifndef ABI_SHARED_COUNTERS_H
#define ABI_SHARED_COUNTERS_H

#include <linux/types.h>

/*
 * The counters are the same on every CPU. A hardware counter's 'select' is the lower part of
 * IA32_PERFEVTSELx (Intel SDM volume 3, 20.2.1.1): event, unit mask, and when to count.
 */
enum lwk_counter_kind {
	LWK_COUNTER_SOFTWARE = 0, /* number: enum lwk_count */
	LWK_COUNTER_GENERAL,	  /* number: x of IA32_PMCx */
	LWK_COUNTER_FIXED,	  /* number: x of IA32_FIXED_CTRx; 'select' says only when */
	LWK_COUNTER_KINDS
};

/* Software counters: sums that struct lwk_cpu_status has anyway. */
enum lwk_count {
	LWK_COUNT_FAULTS,
	LWK_COUNT_INTERRUPTS,
	LWK_COUNT_DISTURBANCES,
	LWK_COUNT_LOCAL_CALLS,
	LWK_COUNT_DELEGATED_CALLS,
	LWK_COUNT_PROCESSES,
	LWK_COUNTS
};

#define LWK_SELECT_EVENT 0xffffU
#define LWK_SELECT_USER (1U << 16)   /* while programs run */
#define LWK_SELECT_SYSTEM (1U << 17) /* while the LWK itself runs */
#define LWK_SELECT_ALL (LWK_SELECT_EVENT | LWK_SELECT_USER | LWK_SELECT_SYSTEM)

struct lwk_counter {
	__u32 kind; /* enum lwk_counter_kind */
	__u32 number;
	__u32 select; /* hardware counters: LWK_SELECT_* */
	__u32 reserved;
};

/*
 * Linux writes the order to count, with 'order' odd meanwhile, and then rings every CPU's doorbell.
 * A CPU that has followed copies 'order' into its struct lwk_cpu_counters.
 */
#define LWK_MAX_COUNTERS 16
struct lwk_counting {
	__u32 order;   /* even, and different each time */
	__u32 set;     /* differs when these are new counters, which begin at 0 */
	__u32 running; /* 0: they stand still */
	__u32 count;
	struct lwk_counter counters[LWK_MAX_COUNTERS];
};

#endif
