/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters that Linux wants of each CPU: the hardware's (Intel SDM volume 3, 20.2), and those that
 * the LWK keeps anyway. They are read when the CPU leaves the kernel, so a reader in Linux need not
 * interrupt it. They do not interrupt the CPU either: a counter of 48 bits that wraps twice between
 * two such moments loses 2^48, which takes days without a kernel entry.
 */
#include "lwk/watch/counters.h"

#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/process/slot.h"
#include "lwk/watch/account.h"
#include "lwk/watch/pmu.h"

static u32 fixed_bits; /* width of a fixed counter, as pmu_bits of the others */

void counters_inspect(void)
{
	u32 regs[4];

	cpuid(0xa, 0, regs);
	if (!(regs[0] & 0xff))
		return;
	status->pmu_version = regs[0] & 0xff;
	status->pmu_counters = regs[0] >> 8 & 0xff;
	status->pmu_bits = regs[0] >> 16 & 0xff;
	/* Each bit is an event that the CPUs lack; they lack all events beyond the length, too. */
	status->pmu_missing = regs[1] | (u32)(~0UL << MIN(regs[0] >> 24, 32U));
	/* Before version 2 the register means nothing. */
	if (status->pmu_version > 1) {
		status->pmu_fixed = regs[3] & 0x1f;
		fixed_bits = regs[3] >> 5 & 0xff;
	}
}

static u64 sum(const u64 *counts, u32 n)
{
	u64 total = 0;

	for (u32 i = 0; i < n; i++)
		total += counts[i];
	return total;
}

static u64 count_of(const struct lwk_cpu_status *counts, u32 number)
{
	switch (number) {
	case LWK_COUNT_FAULTS:
		return counts->faults;
	case LWK_COUNT_INTERRUPTS:
		return sum((const u64 *)counts->interrupts, LWK_INTERRUPTS);
	case LWK_COUNT_DISTURBANCES:
		return counts->disturbances;
	case LWK_COUNT_LOCAL_CALLS:
		return counts->local_calls;
	case LWK_COUNT_DELEGATED_CALLS:
		return sum((const u64 *)counts->delegated_calls, LWK_CALL_KINDS);
	case LWK_COUNT_PROCESSES:
		return counts->processes;
	default:
		return 0;
	}
}

/* A CPU's count is the sum of its slots'. */
static u64 software_count(u32 number)
{
	const struct slot *slot = this_slot(), *each = slot;
	u64 total = 0;

	do {
		total += count_of(each->status, number);
		each = each->next;
	} while (each != slot);
	return total;
}

/* The published counters of this CPU. */
static struct lwk_cpu_counters *own_published(void)
{
	return &status->cpu[this_slot()->cpu->index].counters;
}

static u64 read_counter(const struct lwk_counter *counter)
{
	if (counter->kind == LWK_COUNTER_SOFTWARE)
		return software_count(counter->number);
	if (!pmu_has(status, counter))
		return 0;
	return read_pmc(counter->kind == LWK_COUNTER_FIXED ? PMU_READ_FIXED | counter->number
							   : counter->number);
}

/* A counter wraps at its width. */
static u64 width_mask(u32 kind)
{
	u32 bits = kind == LWK_COUNTER_GENERAL ? status->pmu_bits
		   : kind == LWK_COUNTER_FIXED ? fixed_bits
					       : 64;

	return bits && bits < 64 ? (1UL << bits) - 1 : ~0UL;
}

/* Brings the values up to date if the counters run, and remembers where each stands. */
static void take(struct counters *own)
{
	struct lwk_cpu_counters *published = own_published();

	group_begin(&published->seq);
	for (u32 i = 0; i < own->told.count; i++) {
		const struct lwk_counter *counter = &own->told.counters[i];
		u64 now = read_counter(counter);

		if (own->running)
			published->values[i] += (now - own->last[i]) & width_mask(counter->kind);
		own->last[i] = now;
	}
	published->order = own->told.order;
	group_end(&published->seq);
}

static void registers_of(const struct lwk_counting *counting, struct pmu_registers *registers)
{
	memset(registers, 0, sizeof(*registers));
	for (u32 i = 0; i < counting->count; i++)
		pmu_encode(status, &counting->counters[i], registers);
}

static void program(const struct lwk_counting *counting)
{
	struct pmu_registers registers;

	registers_of(counting, &registers);
	for (u32 i = 0; i < MIN(status->pmu_counters, (u32)PMU_MAX_GENERAL); i++)
		write_msr(MSR_PERFEVTSEL0 + i, registers.select[i]);
	if (status->pmu_fixed)
		write_msr(MSR_FIXED_CTR_CTRL, registers.fixed);
}

static void run_hardware(const struct lwk_counting *counting, bool run)
{
	struct pmu_registers registers;

	if (status->pmu_version < 2)
		return;
	registers_of(counting, &registers);
	write_msr(MSR_PERF_GLOBAL_CTRL, run ? registers.global : 0);
}

/* Reads a new order to count. False: there is none, or Linux is writing and will ring again. */
static bool read_order(struct lwk_counting *told)
{
	u32 order = LOAD_ACQUIRE(boot->counting.order);

	if (order == this_slot()->cpu->counters.told.order || order & 1)
		return false;
	memcpy(told, &boot->counting, sizeof(*told));
	compiler_barrier();
	told->order = order;
	told->count = MIN(told->count, (u32)LWK_MAX_COUNTERS);
	return READ_ONCE(boot->counting.order) == order;
}

static void forget_values(void)
{
	struct lwk_cpu_counters *published = own_published();

	group_begin(&published->seq);
	memset(published->values, 0, sizeof(published->values));
	published->order = 0;
	group_end(&published->seq);
}

void counters_obey(void)
{
	struct counters *own = &this_slot()->cpu->counters;
	struct lwk_counting told;

	if (!read_order(&told))
		return;
	if (own->running) {
		run_hardware(&own->told, false);
		take(own);
	}
	own->running = false;
	if (told.set != own->told.set) {
		forget_values();
		if (status->pmu_version >= 2)
			program(&told);
	}
	own->told = told;
	/* The counters begin after the interrupt that starts them. */
	own->due = true;
}

void counters_update(void)
{
	struct counters *own = &this_slot()->cpu->counters;

	take(own);
	if (own->told.running && !own->running) {
		own->running = true;
		run_hardware(&own->told, true);
	}
	own->due = own->running;
}
