/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Architectural performance monitoring, version 2 (Intel SDM volume 3, 20.2): the values of its
 * registers for some counters. Nothing here touches a register, so a unit test can call it.
 */
#ifndef LWK_WATCH_PMU_H
#define LWK_WATCH_PMU_H

#include <linux/types.h>

#include "abi/shared/counters.h"
#include "abi/shared/status.h"

#define PMU_MAX_GENERAL 8 /* IA32_PERFEVTSEL0 to 7; the MSRs of more counters are elsewhere */
#define PMU_MAX_FIXED 3	  /* instructions, core cycles, reference cycles */

/* IA32_PERFEVTSELx. PC, INT and ANY stay 0: no pin, no interrupt, only this hardware thread. */
#define PMU_SELECT_ENABLE (1UL << 22)
/* IA32_FIXED_CTR_CTRL has four bits for each counter. */
#define PMU_FIXED_SYSTEM 1UL
#define PMU_FIXED_USER 2UL
#define PMU_FIXED_SHIFT(number) (4 * (number))
/* The bits of fixed counters in IA32_PERF_GLOBAL_CTRL, and in ECX of RDPMC. */
#define PMU_GLOBAL_FIXED_SHIFT 32
#define PMU_READ_FIXED (1U << 30)

struct pmu_registers {
	__u64 select[PMU_MAX_GENERAL];
	__u64 fixed;
	__u64 global;
};

/* True when the CPUs have this hardware counter. Before version 2 the LWK uses none. */
static inline int pmu_has(const struct lwk_status *pmu, const struct lwk_counter *counter)
{
	__u32 number = counter->number;

	if (pmu->pmu_version < 2)
		return 0;
	if (counter->kind == LWK_COUNTER_GENERAL)
		return number < PMU_MAX_GENERAL && number < pmu->pmu_counters;
	return counter->kind == LWK_COUNTER_FIXED && number < PMU_MAX_FIXED &&
	       number < pmu->pmu_fixed;
}

static inline void pmu_encode(const struct lwk_status *pmu, const struct lwk_counter *counter,
			      struct pmu_registers *registers)
{
	__u64 when = 0;

	if (!pmu_has(pmu, counter))
		return;
	if (counter->kind == LWK_COUNTER_GENERAL) {
		registers->select[counter->number] =
			(counter->select & LWK_SELECT_ALL) | PMU_SELECT_ENABLE;
		registers->global |= 1UL << counter->number;
		return;
	}
	when |= counter->select & LWK_SELECT_USER ? PMU_FIXED_USER : 0;
	when |= counter->select & LWK_SELECT_SYSTEM ? PMU_FIXED_SYSTEM : 0;
	registers->fixed |= when << PMU_FIXED_SHIFT(counter->number);
	registers->global |= 1UL << (PMU_GLOBAL_FIXED_SHIFT + counter->number);
}

#endif
