/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/machine/fpu.h"

#include <linux/signal.h>

#include "lwk/base/string.h"
#include "lwk/machine/fixup.h"
#include "lwk/machine/x86.h"

#define XSAVE_LEGACY 512
#define XSAVE_HEADER 64
#define MXCSR_DEFAULT 0x1f80
#define MXCSR_OFFSET 24
#define CPUID_1_XSAVE (1u << 26)

static size_t xsave_bytes; /* 0: no XSAVE, only FXSAVE */

/* The exceptions of x87 and SSE, which have the same bits in both. */
#define FP_INVALID (1u << 0)
#define FP_DENORMAL (1u << 1)
#define FP_DIVIDE (1u << 2)
#define FP_OVERFLOW (1u << 3)
#define FP_UNDERFLOW (1u << 4)
#define FP_INEXACT (1u << 5)

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

bool fpu_load(const void *area)
{
	/* The CPU faults when the header, MXCSR or a component is not valid. */
	if (xsave_bytes)
		__asm__ goto("1: xrstor64 (%0)\n\t" FIXUP("1b", "%l[invalid]")::"r"(area), "a"(-1),
			     "d"(-1)
			     : "memory"
			     : invalid);
	else
		__asm__ goto("1: fxrstor64 (%0)\n\t" FIXUP("1b", "%l[invalid]")::"r"(area)
			     : "memory"
			     : invalid);
	return true;
invalid:
	return false;
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
	u32 regs[4];

	cpuid(1, 0, regs);
	/* Programs choose their code by XGETBV, so the features that Linux enabled stay. */
	if (regs[2] & CPUID_1_XSAVE && read_cr4() & CR4_OSXSAVE) {
		cpuid(0xd, 0, regs);
		xsave_bytes = regs[1];
	}
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
