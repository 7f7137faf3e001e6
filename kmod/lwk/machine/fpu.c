/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/machine/fpu.h"

#include <linux/signal.h>

#include "lwk/base/string.h"
#include "lwk/machine/x86.h"

#define XSAVE_LEGACY 512
#define XSAVE_HEADER 64
#define MXCSR_DEFAULT 0x1f80
#define MXCSR_OFFSET 24
#define MXCSR_MASK_OFFSET 28
#define CPUID_1_XSAVE (1u << 26)

static size_t xsave_bytes; /* 0: no XSAVE, only FXSAVE */
static u64 xsave_features;
static u32 mxcsr_mask;

/* The exceptions of x87 and SSE, which have the same bits in both. */
#define FP_INVALID (1u << 0)
#define FP_DENORMAL (1u << 1)
#define FP_DIVIDE (1u << 2)
#define FP_OVERFLOW (1u << 3)
#define FP_UNDERFLOW (1u << 4)
#define FP_INEXACT (1u << 5)

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
		/* The header's fields other than XSTATE_BV must be 0, else #GP. */
		header[0] &= xsave_features;
		memset(header + 1, 0, XSAVE_HEADER - sizeof(u64));
		__asm__ volatile("xrstor64 (%0)" ::"r"(area), "a"(-1), "d"(-1) : "memory");
	} else {
		__asm__ volatile("fxrstor64 (%0)" ::"r"(area) : "memory");
	}
}

void fpu_reset(void)
{
	/* With XSTATE_BV 0 every component is in its initial state, except MXCSR. */
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

void fpu_inspect(void)
{
	static u8 area[XSAVE_LEGACY] __attribute__((aligned(64)));
	u32 regs[4];

	cpuid(1, 0, regs);
	/* Programs choose their code by XGETBV, so the features that Linux enabled stay. */
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

/* The exceptions of the program that are noted and not masked. */
static u32 raised(bool simd)
{
	u16 status, control;
	u32 mxcsr;

	if (simd) {
		__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
		return mxcsr & ~(mxcsr >> 7);
	}
	__asm__ volatile("fnstsw %0; fnstcw %1" : "=m"(status), "=m"(control));
	return status & ~control;
}

int fpu_signal_code(bool simd)
{
	u32 error = raised(simd);

	if (error & FP_INVALID)
		return FPE_FLTINV;
	if (error & FP_DIVIDE)
		return FPE_FLTDIV;
	if (error & FP_OVERFLOW)
		return FPE_FLTOVF;
	if (error & (FP_UNDERFLOW | FP_DENORMAL))
		return FPE_FLTUND;
	return error & FP_INEXACT ? FPE_FLTRES : FPE_FLTINV;
}
