/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a CPU at its entry into the LWK is Linux's. Linux sets all of it again when the CPU
 * comes on-line again, as after a reset: an INIT leaves most MSRs as they are, so Linux cannot rely
 * on them. Each MSR here is one that CPUID announces.
 */
#include "lwk/machine/state.h"

#include "lwk/base/types.h"
#include "lwk/machine/x86.h"
#include "lwk/watch/panic.h"

/* CPUID leaf 1, EDX */
#define HAS_PAT (1u << 16)
/* CPUID leaf 7, EBX, ECX and EDX */
#define HAS_SMEP (1u << 7)
#define HAS_SMAP (1u << 20)
#define HAS_UMIP (1u << 2)
#define HAS_SPEC_CTRL (1u << 26)
#define HAS_FLUSH_CMD (1u << 28)
#define HAS_ARCH_CAPABILITIES (1u << 29)
#define HAS_CORE_CAPABILITIES (1u << 30)
/* CPUID leaf 0xd, subleaf 1, EAX */
#define HAS_XFD (1u << 4)
/* CPUID leaf 0x80000008, EBX (AMD) */
#define HAS_AMD_IBPB (1u << 12)
#define HAS_AMD_IBRS (1u << 14)
#define HAS_AMD_IBRS_ALWAYS_ON (1u << 16)
/* CPUID leaf 0x80000021, EAX (AMD) */
#define HAS_AUTOIBRS (1u << 8)

#define ARCH_IBRS_ALL (1UL << 1)
#define CORE_SPLIT_LOCK_DETECT (1UL << 5)
#define TEST_SPLIT_LOCK_DETECT (1UL << 29)
#define SPEC_IBRS (1UL << 0)
#define PRED_IBPB (1UL << 0)
#define FLUSH_L1D (1UL << 0)

#define PAT_WRITE_BACK 6
#define PAT_UNCACHED 0

/* Linux's choices that stay, because programs see them, or because they cannot change here. */
#define CR4_KEPT (CR4_LA57 | CR4_VMXE | CR4_FSGSBASE | CR4_OSXSAVE | CR4_PKE)

struct features {
	u32 leaf1[4], leaf7[4], leaf_d[4], amd8[4], amd21[4];
};

static void read_features(struct features *has)
{
	cpuid(1, 0, has->leaf1);
	cpuid(7, 0, has->leaf7);
	cpuid(0xd, 1, has->leaf_d);
	cpuid(0x80000008, 0, has->amd8);
	cpuid(0x80000021, 0, has->amd21);
}

static void set_control_registers(const struct features *has)
{
	u64 cr4 = (read_cr4() & CR4_KEPT) | CR4_PAE | CR4_MCE | CR4_OSFXSR | CR4_OSXMMEXCPT;

	cr4 |= has->leaf7[1] & HAS_SMEP ? CR4_SMEP : 0;
	cr4 |= has->leaf7[1] & HAS_SMAP ? CR4_SMAP : 0;
	cr4 |= has->leaf7[2] & HAS_UMIP ? CR4_UMIP : 0;
	write_cr4(cr4);
	/* With AM, a program that sets AC gets SIGBUS where it is not aligned, as on Linux. */
	write_cr0(CR0_PE | CR0_MP | CR0_ET | CR0_NE | CR0_WP | CR0_AM | CR0_PG);
	write_msr(MSR_EFER, EFER_SCE | EFER_LME | EFER_LMA | EFER_NX |
				    (has->amd21[0] & HAS_AUTOIBRS ? EFER_AUTOIBRS : 0));
}

/* The LWK's page tables use two of the PAT's entries. */
static void check_memory_types(const struct features *has)
{
	u64 pat;

	if (!(has->leaf1[3] & HAS_PAT))
		return;
	pat = read_msr(MSR_PAT);
	if ((pat & 7) != PAT_WRITE_BACK || (pat >> 24 & 7) != PAT_UNCACHED)
		panic("PAT: expected write-back as type 0 and uncached as type 3, found %llx", pat);
}

static void set_debugging(void)
{
	write_dr7(DR7_NONE);
	write_dr6(DR6_NONE);
	/* No bus lock traps, which would be SIGTRAP, no branch traces into Linux's memory. */
	write_msr(MSR_DEBUGCTL, 0);
}

void state_allow_split_locks(void)
{
	write_msr(MSR_TEST_CTRL, read_msr(MSR_TEST_CTRL) & ~TEST_SPLIT_LOCK_DETECT);
}

/*
 * Linux's choice stays but for IBRS. Where it protects a kernel from its programs only when it is
 * set at each entry, it would slow the programs and protect nothing.
 */
static void set_speculation(const struct features *has)
{
	bool intel = has->leaf7[3] & HAS_SPEC_CTRL,
	     always_on = has->amd8[1] & HAS_AMD_IBRS_ALWAYS_ON;
	u64 value;

	if (!intel && !(has->amd8[1] & HAS_AMD_IBRS))
		return;
	if (has->leaf7[3] & HAS_ARCH_CAPABILITIES)
		always_on |= !!(read_msr(MSR_ARCH_CAPABILITIES) & ARCH_IBRS_ALL);
	value = read_msr(MSR_SPEC_CTRL) & ~SPEC_IBRS;
	write_msr(MSR_SPEC_CTRL, value | (always_on ? SPEC_IBRS : 0));
}

void state_set(void)
{
	struct features has;

	read_features(&has);
	set_control_registers(&has);
	check_memory_types(&has);
	set_debugging();
	if (has.leaf7[3] & HAS_CORE_CAPABILITIES &&
	    read_msr(MSR_CORE_CAPABILITIES) & CORE_SPLIT_LOCK_DETECT)
		state_allow_split_locks();
	/* fpu.c saves all state that XCR0 enables, so no component is left out. */
	if (has.leaf_d[0] & HAS_XFD) {
		write_msr(MSR_XFD, 0);
		write_msr(MSR_XFD_ERR, 0);
	}
	set_speculation(&has);
}

void state_forget(void)
{
	u16 selector = KERNEL_DS;
	struct features has;

	read_features(&has);
	if (has.leaf7[3] & HAS_SPEC_CTRL || has.amd8[1] & HAS_AMD_IBPB)
		write_msr(MSR_PRED_CMD, PRED_IBPB);
	if (has.leaf7[3] & HAS_FLUSH_CMD)
		write_msr(MSR_FLUSH_CMD, FLUSH_L1D);
	/* With the microcode for it, VERW empties the CPU's buffers; else it does nothing. */
	__asm__ volatile("verw %0" ::"m"(selector) : "cc");
}
