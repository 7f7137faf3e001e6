/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64 instructions, registers and structures (Intel SDM volumes 2 and 3). */
#ifndef LWK_MACHINE_X86_H
#define LWK_MACHINE_X86_H

#include <stdint.h>

#define MSR_TEST_CTRL 0x33
#define MSR_SPEC_CTRL 0x48
#define MSR_PRED_CMD 0x49
#define MSR_CORE_CAPABILITIES 0xcf
#define MSR_ARCH_CAPABILITIES 0x10a
#define MSR_FLUSH_CMD 0x10b
#define MSR_SYSENTER_CS 0x174
#define MSR_MCG_CAP 0x179
#define MSR_MCG_STATUS 0x17a
#define MSR_PERFEVTSEL0 0x186
#define MSR_XFD 0x1c4
#define MSR_XFD_ERR 0x1c5
#define MSR_DEBUGCTL 0x1d9
#define MSR_PAT 0x277
#define MSR_MC0_CTL2 0x280
#define MSR_FIXED_CTR_CTRL 0x38d
#define MSR_PERF_GLOBAL_CTRL 0x38f
/* Each machine check bank has four MSRs: control, status, address, and more about it. */
#define MSR_MC_STATUS(bank) (0x401 + 4 * (bank))
#define MSR_MC_ADDR(bank) (0x402 + 4 * (bank))
#define MSR_X2APIC 0x800
#define MSR_EFER 0xc0000080
#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_CSTAR 0xc0000083
#define MSR_SFMASK 0xc0000084
#define MSR_FS_BASE 0xc0000100
#define MSR_GS_BASE 0xc0000101
#define MSR_KERNEL_GS_BASE 0xc0000102
#define MSR_TSC_AUX 0xc0000103

#define EFER_SCE (1UL << 0)
#define EFER_LME (1UL << 8)
#define EFER_LMA (1UL << 10)
#define EFER_NX (1UL << 11)
#define EFER_AUTOIBRS (1UL << 21)

#define CR0_PE (1UL << 0)
#define CR0_MP (1UL << 1)
#define CR0_ET (1UL << 4)
#define CR0_NE (1UL << 5)
#define CR0_WP (1UL << 16)
#define CR0_AM (1UL << 18)
#define CR0_PG (1UL << 31)
#define CR4_PAE (1UL << 5)
#define CR4_MCE (1UL << 6)
#define CR4_OSFXSR (1UL << 9)
#define CR4_OSXMMEXCPT (1UL << 10)
#define CR4_UMIP (1UL << 11)
#define CR4_LA57 (1UL << 12)
#define CR4_VMXE (1UL << 13)
#define CR4_FSGSBASE (1UL << 16)
#define CR4_OSXSAVE (1UL << 18)
#define CR4_SMEP (1UL << 20)
#define CR4_SMAP (1UL << 21)
#define CR4_PKE (1UL << 22)

/* No breakpoint is armed, and no reason for a debug exception is noted. */
#define DR7_NONE 0x400UL
#define DR6_NONE 0xffff0ff0UL
#define DR6_STEP (1UL << 14)

#define RFLAGS_CF (1UL << 0)
#define RFLAGS_FIXED (1UL << 1)
#define RFLAGS_PF (1UL << 2)
#define RFLAGS_AF (1UL << 4)
#define RFLAGS_ZF (1UL << 6)
#define RFLAGS_SF (1UL << 7)
#define RFLAGS_TF (1UL << 8)
#define RFLAGS_IF (1UL << 9)
#define RFLAGS_DF (1UL << 10)
#define RFLAGS_OF (1UL << 11)
#define RFLAGS_IOPL (3UL << 12)
#define RFLAGS_NT (1UL << 14)
#define RFLAGS_RF (1UL << 16)
#define RFLAGS_AC (1UL << 18)
/* The flags that user code may change (Linux's FIX_EFLAGS). */
#define RFLAGS_USER                                                                                \
	(RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_TF | RFLAGS_DF |       \
	 RFLAGS_OF | RFLAGS_RF | RFLAGS_AC)

/* The selectors are Linux's, since programs can see two of them. */
#define KERNEL_CS 0x10
#define KERNEL_DS 0x18
#define USER32_CS 0x23
#define USER_DS 0x2b
#define USER_CS 0x33
#define TSS_SELECTOR 0x40

#define PTE_P (1UL << 0)
#define PTE_W (1UL << 1)
#define PTE_U (1UL << 2)
#define PTE_PS (1UL << 7)
#define PTE_NX (1UL << 63)
#define PTE_ADDR 0x000ffffffffff000UL

#define FAULT_PRESENT (1UL << 0)
#define FAULT_WRITE (1UL << 1)
#define FAULT_RESERVED (1UL << 3)
#define FAULT_EXEC (1UL << 4)

enum exception {
	X86_DIVIDE = 0,
	X86_DEBUG = 1,
	X86_NMI = 2,
	X86_BREAKPOINT = 3,
	X86_OVERFLOW = 4,
	X86_BOUND = 5,
	X86_INVALID_OPCODE = 6,
	X86_NO_DEVICE = 7,
	X86_DOUBLE_FAULT = 8,
	X86_COPROCESSOR = 9,
	X86_INVALID_TSS = 10,
	X86_NOT_PRESENT = 11,
	X86_STACK = 12,
	X86_PROTECTION = 13,
	X86_PAGE_FAULT = 14,
	X86_FLOATING_POINT = 16,
	X86_ALIGNMENT = 17,
	X86_MACHINE_CHECK = 18,
	X86_SIMD = 19,
	X86_CONTROL_PROTECTION = 21,
	X86_EXCEPTIONS = 32
};

struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7]; /* ist[0] is IST 1 */
	uint64_t reserved2;
	uint16_t reserved3;
	uint16_t io_map;
} __attribute__((packed));

struct idt_gate {
	uint16_t offset_low;
	uint16_t selector;
	uint8_t ist;
	uint8_t type;
	uint16_t offset_middle;
	uint32_t offset_high;
	uint32_t reserved;
};

struct descriptor_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

static inline void memory_barrier(void)
{
	__asm__ volatile("lock; addl $0, -4(%%rsp)" ::: "memory", "cc");
}

static inline void compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

static inline uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

static inline uint64_t read_msr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

static inline void write_msr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
			 : "memory");
}

static inline uint64_t read_pmc(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
	return (uint64_t)high << 32 | low;
}

/* A leaf that the CPU does not have is all 0. */
static inline void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	uint32_t highest = leaf & 0x80000000, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(highest), "=b"(b), "+c"(c), "=d"(d));
	regs[0] = regs[1] = regs[2] = regs[3] = 0;
	if (leaf <= highest)
		__asm__ volatile("cpuid"
				 : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
				 : "a"(leaf), "c"(subleaf));
}

#define REGISTER(name)                                                                             \
	static inline uint64_t read_##name(void)                                                   \
	{                                                                                          \
		uint64_t value;                                                                    \
		__asm__ volatile("movq %%" #name ", %0" : "=r"(value)::"memory");                  \
		return value;                                                                      \
	}                                                                                          \
	static inline void write_##name(uint64_t value)                                            \
	{                                                                                          \
		__asm__ volatile("movq %0, %%" #name ::"r"(value) : "memory");                     \
	}
REGISTER(cr0)
REGISTER(cr2)
REGISTER(cr3)
REGISTER(cr4)
REGISTER(dr6)
REGISTER(dr7)

static inline void invalidate_page(uint64_t addr)
{
	__asm__ volatile("invlpg (%0)" ::"r"(addr) : "memory");
}

/* Interrupts on for one halt. The shadow of sti makes the pair atomic. */
static inline void halt_with_interrupts(void)
{
	__asm__ volatile("sti; hlt; cli" ::: "memory");
}

static inline __attribute__((noreturn)) void halt_forever(void)
{
	for (;;)
		__asm__ volatile("cli; hlt" ::: "memory");
}

#endif
