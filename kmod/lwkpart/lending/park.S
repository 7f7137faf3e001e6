/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NMI handler of a parked CPU. The CPU sleeps in Linux's own play_dead() with interrupts off
 * and with a copy of Linux's IDT that differs in this gate only (cpu.c). The handler runs on the
 * idle task's stack (IST 0).
 *
 * All NMIs come here. The mailbox tells the one that starts the LWK from all others (a watchdog's,
 * a panicking CPU's broadcast), which must change nothing.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/processor-flags.h>
#include <asm/unwind_hints.h>

#include "compat/compat.h"
#include "lending/park.h"

/* CET is bit 23; Linux 5.10 and 6.1 have no name for it. */
#define CR4_CLEAR (X86_CR4_PGE | X86_CR4_PCIDE | (1 << 23))

	.text
	.balign PARK_STUB_BYTES
SYM_CODE_START_NOALIGN(park_nmi)
	UNWIND_HINT_IRET_REGS
	endbr64		/* IBT tracks delivery through the IDT, too (SDM vol. 1, CET) */
	pushq	%rax
	subq	$16, %rsp
	sidt	6(%rsp)
	movq	8(%rsp), %rax
	addq	$16, %rsp
	cmpl	$0, (PARK_IDT_BYTES + PARK_GO)(%rax)
	jne	1f
	popq	%rax
	iretq

1:	movq	(PARK_IDT_BYTES + PARK_CR3)(%rax), %rcx
	movq	(PARK_IDT_BYTES + PARK_STACK)(%rax), %r8
	movq	(PARK_IDT_BYTES + PARK_PARAMS)(%rax), %rdi
	movl	(PARK_IDT_BYTES + PARK_INDEX)(%rax), %esi
	movq	(PARK_IDT_BYTES + PARK_ENTRY)(%rax), %rdx
	movl	$1, (PARK_IDT_BYTES + PARK_GONE)(%rax)
	/* Clearing PGE flushes Linux's global TLB entries; without PCIDE, CR3 has no PCID. */
	movq	%cr4, %rax
	andq	$~CR4_CLEAR, %rax
	movq	%rax, %cr4
	/* From here on only the LWK's mappings exist, which include this page. */
	movq	%rcx, %cr3
	COMPAT_HINT_NO_STACK
	movq	%r8, %rsp
	cld
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%rdx
	int3
	/* The assembler fails here if the stub is longer and could cross a page. */
	.org	park_nmi + PARK_STUB_BYTES, 0xcc
SYM_CODE_END(park_nmi)
