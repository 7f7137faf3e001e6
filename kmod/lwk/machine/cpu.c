/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/machine/cpu.h"

#include "abi/shared/boot.h"
#include "abi/shared/layout.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/entry.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/state.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/process/slot.h"

_Static_assert(offsetof(struct slot, user_rsp) == SLOT_USER_RSP, "entry.h");
_Static_assert(offsetof(struct slot, kernel_rsp) == SLOT_KERNEL_RSP, "entry.h");
_Static_assert(offsetof(struct frame, r11) == FRAME_R11, "entry.h");
_Static_assert(offsetof(struct frame, rcx) == FRAME_RCX, "entry.h");
_Static_assert(offsetof(struct frame, rip) == FRAME_RIP, "entry.h");
_Static_assert(offsetof(struct frame, cs) == FRAME_CS, "entry.h");
_Static_assert(offsetof(struct frame, rflags) == FRAME_RFLAGS, "entry.h");
_Static_assert(sizeof(struct frame) == FRAME_BYTES, "entry.h");
_Static_assert(USER_CS == USER_CS_NUMBER && USER_DS == USER_DS_NUMBER, "entry.h");
_Static_assert(LWK_VDSO_BYTES == VDSO_BYTES, "entry.h");
_Static_assert(SYSCALL_VECTOR == SYSCALL_VECTOR_NUMBER, "entry.h");
_Static_assert(MSR_GS_BASE == MSR_GS_BASE_NUMBER, "entry.h");

/* IST entries, for exceptions that can come while the stack cannot be trusted. */
enum { IST_NMI = 1, IST_DOUBLE_FAULT, IST_MACHINE_CHECK, IST_END };

/* One table for all CPUs, which the first fills. */
static struct idt_gate idt[256];

static struct cpu first_cpu, *more_cpus;

u8 has_clac;

struct cpu *cpu_at(u32 index)
{
	return index ? &more_cpus[index - 1] : &first_cpu;
}

static void find_clac(void)
{
	u32 regs[4];

	cpuid(7, 0, regs);
	has_clac = regs[1] >> 20 & 1;
}

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

/* Returns Linux's numbers of the CPU and its node, in Linux's encoding. */
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
	/* Programs on CPUs without rdpid read it (vdso.c). */
	cpu->gdt[CPU_NODE_SELECTOR_NUMBER / 8] =
		0x0040f50000000000 | (where & 0xffff) | (where & 0xf0000) << 32;

	cpu->tss.rsp[0] = cpu->current->kernel_rsp;
	cpu->tss.io_map = sizeof(struct tss);
	for (unsigned int i = IST_NMI; i < IST_END; i++) {
		void *stack = direct_map_stack(PAGE_SIZE);

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

/* The CPU came here by an NMI and accepts no other NMI before an iretq. */
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
	write_msr(MSR_STAR, (u64)USER32_CS << 48 | (u64)KERNEL_CS << 32);
	write_msr(MSR_LSTAR, (u64)syscall_entry);
	write_msr(MSR_CSTAR, (u64)syscall_entry);
	write_msr(MSR_SFMASK, RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_OF | RFLAGS_NT |
				      RFLAGS_AC | RFLAGS_IOPL);
	/* SYSENTER would jump to Linux, which is not mapped; with 0 it is a fault. */
	write_msr(MSR_SYSENTER_CS, 0);
	u32 regs[4];

	cpuid(0x80000001, 0, regs);
	/* rdtscp and rdpid read it. */
	if (regs[3] & 1u << 27)
		write_msr(MSR_TSC_AUX, where_is(cpu));
}

void cpu_setup(struct cpu *cpu)
{
	if (cpu->index == 0) {
		more_cpus = kernel_boot_alloc((boot->n_cpus - 1) * sizeof(*more_cpus));
		find_clac();
		idt_fill();
		counters_inspect();
	}
	load_tables(cpu);
	unblock_nmis();
	state_set();
	state_forget();
	load_msrs(cpu);
	if (cpu->index == 0)
		fpu_inspect();
	apic_setup();
}
