/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets a CPU up: descriptor tables, MSRs, the local APIC, floating point. */
#include "lwk/lwk.h"
#include "lwk/machine/entry.h"

_Static_assert(offsetof(struct slot, user_rsp) == SLOT_USER_RSP, "entry.h");
_Static_assert(offsetof(struct slot, kernel_rsp) == SLOT_KERNEL_RSP, "entry.h");
_Static_assert(offsetof(struct frame, r11) == FRAME_R11, "entry.h");
_Static_assert(offsetof(struct frame, rcx) == FRAME_RCX, "entry.h");
_Static_assert(offsetof(struct frame, rip) == FRAME_RIP, "entry.h");
_Static_assert(offsetof(struct frame, cs) == FRAME_CS, "entry.h");
_Static_assert(offsetof(struct frame, rflags) == FRAME_RFLAGS, "entry.h");
_Static_assert(USER_CS == USER_CS_NUMBER && USER_DS == USER_DS_NUMBER, "entry.h");
_Static_assert(LWK_VDSO_BYTES == VDSO_BYTES, "entry.h");
_Static_assert(SYSCALL_VECTOR == SYSCALL_VECTOR_NUMBER, "entry.h");
_Static_assert(MSR_GS_BASE == MSR_GS_BASE_NUMBER, "entry.h");

/* IST slots: exceptions that can come while the stack is not to be trusted. */
enum { IST_NMI = 1, IST_DOUBLE_FAULT, IST_MACHINE_CHECK, IST_END };

/* One table for all CPUs; filled by the first, in its .bss page. */
static struct idt_gate idt[256];

static void idt_fill(void)
{
	for (unsigned int v = 0; v < ARRAY_SIZE(idt); v++) {
		u64 stub = (u64)exception_stubs + v * STUB_BYTES;

		idt[v] = (struct idt_gate){
			.offset_low = stub & 0xffff,
			.selector = KERNEL_CS,
			/* int3 and into are for programs to use */
			.type = v == X86_BREAKPOINT || v == X86_OVERFLOW ? 0xee : 0x8e,
			.offset_middle = stub >> 16 & 0xffff,
			.offset_high = stub >> 32,
		};
	}
	idt[X86_NMI].ist = IST_NMI;
	idt[X86_DOUBLE_FAULT].ist = IST_DOUBLE_FAULT;
	idt[X86_MACHINE_CHECK].ist = IST_MACHINE_CHECK;
}

/* Linux's encoding of CPU and node. */
static u64 where_is(const struct cpu *cpu)
{
	const struct lwk_boot_cpu *at = &boot->cpus[cpu->index];

	return (u64)at->node << 12 | at->linux_cpu;
}

static void load_tables(struct cpu *cpu)
{
	u64 tss = (u64)&cpu->tss, where = where_is(cpu);
	struct descriptor_pointer gdtr = { sizeof(cpu->gdt) - 1, (u64)cpu->gdt };
	struct descriptor_pointer idtr = { sizeof(idt) - 1, (u64)idt };

	cpu->gdt[KERNEL_CS / 8] = 0x00af9b000000ffff;
	cpu->gdt[KERNEL_DS / 8] = 0x00cf93000000ffff;
	cpu->gdt[USER32_CS / 8] = 0x00cffb000000ffff;
	cpu->gdt[USER_DS / 8] = 0x00cff3000000ffff;
	cpu->gdt[USER_CS / 8] = 0x00affb000000ffff;
	cpu->gdt[TSS_SELECTOR / 8] = (sizeof(struct tss) - 1) | (tss & 0xffffff) << 16 |
				     0x89UL << 40 | (tss >> 24 & 0xff) << 56;
	cpu->gdt[TSS_SELECTOR / 8 + 1] = tss >> 32;
	/* As rdpid gives it, for CPUs that have no such instruction (vdso.c). */
	cpu->gdt[CPU_NODE_SELECTOR_NUMBER / 8] =
		0x0040f50000000000 | (where & 0xffff) | (where & 0xf0000) << 32;

	cpu->tss.rsp[0] = cpu->current->kernel_rsp;
	cpu->tss.io_map = sizeof(struct tss);
	for (unsigned int i = IST_NMI; i < IST_END; i++) {
		void *stack = kernel_boot_alloc(PAGE_SIZE);

		*(struct slot **)stack = cpu->current; /* entry.S, emergency_entry */
		cpu->tss.ist[i - 1] = (u64)stack + PAGE_SIZE;
	}

	__asm__ volatile(
		"lgdt %0; lidt %1\n\t"
		"pushq %2; leaq 1f(%%rip), %%rax; pushq %%rax; lretq\n"
		"1:\tmovl %3, %%eax; movl %%eax, %%ds; movl %%eax, %%es; movl %%eax, %%ss\n\t"
		"xorl %%eax, %%eax; movl %%eax, %%fs; movl %%eax, %%gs\n\t"
		"lldt %%ax\n\t"
		"movl %4, %%eax; ltr %%ax" ::"m"(gdtr),
		"m"(idtr), "i"(KERNEL_CS), "i"(KERNEL_DS), "i"(TSS_SELECTOR)
		: "rax", "memory");
}

/* The CPU came here by an NMI, and takes no other one before an iretq. */
static void unblock_nmis(void)
{
	__asm__ volatile("movq %%rsp, %%rax\n\t"
			 "pushq %0; pushq %%rax; pushfq; pushq %1\n\t"
			 "leaq 1f(%%rip), %%rax; pushq %%rax; iretq\n"
			 "1:" ::"i"(KERNEL_DS),
			 "i"(KERNEL_CS)
			 : "rax", "memory");
}

static void load_msrs(const struct cpu *cpu)
{
	write_msr(MSR_GS_BASE, (u64)cpu->current);
	write_msr(MSR_KERNEL_GS_BASE, 0);
	write_msr(MSR_FS_BASE, 0);
	write_msr(MSR_EFER, read_msr(MSR_EFER) | EFER_SCE | EFER_NX);
	write_msr(MSR_STAR, (u64)USER32_CS << 48 | (u64)KERNEL_CS << 32);
	write_msr(MSR_LSTAR, (u64)syscall_entry);
	write_msr(MSR_CSTAR, (u64)syscall_entry);
	write_msr(MSR_SFMASK, RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_OF | RFLAGS_NT |
				      RFLAGS_AC | RFLAGS_IOPL);
	/* SYSENTER would lead to Linux, which is not mapped here; this way it is a fault. */
	write_msr(MSR_SYSENTER_CS, 0);
	/* What rdtscp and rdpid give. */
	u32 regs[4];

	cpuid(0x80000001, 0, regs);
	if (regs[3] & 1u << 27)
		write_msr(MSR_TSC_AUX, where_is(cpu));
}

/* ---- the local APIC (Intel SDM volume 3, chapter 11) ---- */

#define APIC_TPR 0x80
#define APIC_EOI 0xb0
#define APIC_SPURIOUS 0xf0
#define APIC_SPURIOUS_ENABLE (1u << 8)
#define APIC_ICR 0x300
#define APIC_ICR_HIGH 0x310
#define APIC_ICR_PENDING (1u << 12)
#define APIC_LVT_TIMER 0x320
#define APIC_LVT_FIRST 0x330
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
		write_msr(MSR_X2APIC + APIC_ICR / 16, (u64)apicid << 32 | vector);
		return;
	}
	while (*(volatile u32 *)(LWK_LAPIC_VADDR + APIC_ICR) & APIC_ICR_PENDING)
		cpu_relax();
	apic_write(APIC_ICR_HIGH, apicid << 24);
	apic_write(APIC_ICR, vector);
}

/* What the timer counts in a millisecond, found when it is needed first; all CPUs' are alike. */
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

static void apic_setup(void)
{
	/* Linux left it soft-disabled; its timer and counters must not fire here. */
	apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED);
	for (u32 reg = APIC_LVT_FIRST; reg <= APIC_LVT_LAST; reg += 0x10)
		apic_write(reg, APIC_LVT_MASKED);
	apic_write(APIC_TPR, 0);
	apic_write(APIC_SPURIOUS, APIC_SPURIOUS_ENABLE | 0xff);
}

/* ---- floating point and vectors (Intel SDM volume 1, chapter 13) ---- */

#define XSAVE_LEGACY 512
#define XSAVE_HEADER 64
#define MXCSR_DEFAULT 0x1f80
#define MXCSR_OFFSET 24
#define MXCSR_MASK_OFFSET 28
#define CPUID_1_XSAVE (1u << 26)

static size_t xsave_bytes; /* 0: no XSAVE, only FXSAVE */
static u64 xsave_features;
static u32 mxcsr_mask;

static u64 read_xcr0(void)
{
	u32 low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (u64)high << 32 | low;
}

size_t fpu_size(void)
{
	return xsave_bytes ? xsave_bytes : XSAVE_LEGACY;
}

void fpu_save(void *area)
{
	if (xsave_bytes) {
		memset((u8 *)area + XSAVE_LEGACY, 0, XSAVE_HEADER);
		__asm__ volatile("xsave64 (%0)" ::"r"(area), "a"(-1), "d"(-1) : "memory");
	} else {
		__asm__ volatile("fxsave64 (%0)" ::"r"(area) : "memory");
	}
}

void fpu_load(void *area)
{
	u32 *mxcsr = (u32 *)((u8 *)area + MXCSR_OFFSET);
	u64 *header = (u64 *)((u8 *)area + XSAVE_LEGACY);

	*mxcsr &= mxcsr_mask;
	if (xsave_bytes) {
		/* Everything of the header but XSTATE_BV must be 0, else #GP. */
		header[0] &= xsave_features;
		memset(header + 1, 0, XSAVE_HEADER - sizeof(u64));
		__asm__ volatile("xrstor64 (%0)" ::"r"(area), "a"(-1), "d"(-1) : "memory");
	} else {
		__asm__ volatile("fxrstor64 (%0)" ::"r"(area) : "memory");
	}
}

void fpu_reset(void)
{
	/* XSTATE_BV 0: every component in its initial state, but for MXCSR. */
	static const u8 initial[XSAVE_LEGACY + XSAVE_HEADER] __attribute__((aligned(64))) = {
		[MXCSR_OFFSET] = MXCSR_DEFAULT & 0xff,
		[MXCSR_OFFSET + 1] = MXCSR_DEFAULT >> 8,
	};

	if (!xsave_bytes) {
		u32 mxcsr = MXCSR_DEFAULT;

		__asm__ volatile("fninit; ldmxcsr %0" ::"m"(mxcsr));
		return;
	}
	__asm__ volatile("xrstor64 (%0)" ::"r"(initial), "a"(-1), "d"(-1) : "memory");
}

/* What the CPUs have; they are all alike, so the first one looks. */
static void fpu_inspect(void)
{
	static u8 area[XSAVE_LEGACY] __attribute__((aligned(64)));
	u32 regs[4];

	cpuid(1, 0, regs);
	/* Programs choose their code by what XGETBV shows, so what Linux enabled stays. */
	if (regs[2] & CPUID_1_XSAVE && read_cr4() & CR4_OSXSAVE) {
		xsave_features = read_xcr0();
		cpuid(0xd, 0, regs);
		xsave_bytes = regs[1];
	}
	__asm__ volatile("fxsave64 (%0)" ::"r"(area) : "memory");
	mxcsr_mask = *(u32 *)(area + MXCSR_MASK_OFFSET);
	if (!mxcsr_mask)
		mxcsr_mask = 0xffbf; /* SDM volume 1, 11.6.6 */
}

static void fpu_setup(const struct cpu *cpu)
{
	write_cr0((read_cr0() & ~(CR0_EM | CR0_TS)) | CR0_MP | CR0_NE | CR0_WP);
	write_cr4((read_cr4() & ~CR4_TSD) | CR4_OSFXSR | CR4_OSXMMEXCPT);
	if (cpu->index == 0)
		fpu_inspect();
}

void cpu_setup(struct cpu *cpu, u64 stack_top)
{
	cpu->current->kernel_rsp = stack_top;
	if (cpu->index == 0) {
		idt_fill();
		counters_inspect();
	}
	load_tables(cpu);
	unblock_nmis();
	load_msrs(cpu);
	fpu_setup(cpu);
	apic_setup();
}
