/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/machine/apic.h"

#include "abi/shared/layout.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/x86.h"

#define APIC_TPR 0x80
#define APIC_EOI 0xb0
#define APIC_SPURIOUS 0xf0
#define APIC_SPURIOUS_ENABLE (1u << 8)
#define APIC_ICR 0x300
#define APIC_ICR_HIGH 0x310
#define APIC_ICR_PENDING (1u << 12)
#define APIC_LVT_TIMER 0x320
#define APIC_LVT_LAST 0x370
#define APIC_LVT_MASKED (1u << 16)

#define APIC_TIMER_INITIAL 0x380
#define APIC_TIMER_CURRENT 0x390
#define APIC_TIMER_DIVIDE 0x3e0
#define APIC_DIVIDE_BY_16 3

static u32 apic_read(u32 reg)
{
	return boot->x2apic ? read_msr(MSR_X2APIC + reg / 16)
			    : *(volatile u32 *)(LWK_LAPIC_VADDR + reg);
}

static void apic_write(u32 reg, u32 value)
{
	if (boot->x2apic)
		write_msr(MSR_X2APIC + reg / 16, value);
	else
		*(volatile u32 *)(LWK_LAPIC_VADDR + reg) = value;
}

void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

void apic_send(u32 apicid, u32 vector)
{
	if (boot->x2apic) {
		memory_barrier();
		/* The MSR's write does not wait for barriers of memory (SDM vol. 3, 11.12.3). */
		__asm__ volatile("lfence" ::: "memory");
		write_msr(MSR_X2APIC + APIC_ICR / 16, (u64)apicid << 32 | vector);
		return;
	}
	while (*(volatile u32 *)(LWK_LAPIC_VADDR + APIC_ICR) & APIC_ICR_PENDING)
		cpu_relax();
	apic_write(APIC_ICR_HIGH, apicid << 24);
	apic_write(APIC_ICR, vector);
}

void apic_ring_linux(u32 cpu)
{
	/* Read at once: Linux may move the interrupt to another CPU and vector just now. */
	u64 doorbell = READ_ONCE(boot->cpus[cpu].doorbell);

	if (doorbell)
		apic_send(doorbell >> 32, (u32)doorbell);
}

/*
 * Returns the timer's counts in a millisecond, which the first call measures; all CPUs' are alike.
 */
static u32 timer_per_ms(void)
{
	static u32 counts;
	u64 start;

	if (!READ_ONCE(counts)) {
		apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED);
		apic_write(APIC_TIMER_INITIAL, ~0U);
		start = rdtsc();
		while (rdtsc() - start < boot->tsc_khz)
			cpu_relax();
		WRITE_ONCE(counts, MAX(~0U - apic_read(APIC_TIMER_CURRENT), 1U));
	}
	return counts;
}

void apic_timer(u64 ns)
{
	apic_write(APIC_TIMER_DIVIDE, APIC_DIVIDE_BY_16);
	if (!ns) {
		apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED);
		apic_write(APIC_TIMER_INITIAL, 0);
		return;
	}
	u64 counts = timer_per_ms() * (MIN(ns, 1000000000UL) / 1000) / 1000;

	apic_write(APIC_LVT_TIMER, TIMER_VECTOR);
	apic_write(APIC_TIMER_INITIAL, MIN(MAX(counts, 1UL), ~0U));
}

void apic_setup(void)
{
	/* Linux left it soft-disabled; its timer and counters must not fire here. */
	for (u32 reg = APIC_LVT_TIMER; reg <= APIC_LVT_LAST; reg += 0x10)
		apic_write(reg, APIC_LVT_MASKED);
	apic_write(APIC_TPR, 0);
	apic_write(APIC_SPURIOUS, APIC_SPURIOUS_ENABLE | 0xff);
}
