/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every way into and out of the kernel. */
#include "lwk/machine/entry.h"

	.text

/* lwkpart.ko jumps here. RDI: the boot parameters; RSI: this CPU's index (abi/shared/boot.h). */
	.globl _start
_start:
	cld
	xorl %ebp, %ebp
	testl %esi, %esi
	jnz 1f
	call choose_canary
1:	call boot_cpu
	ud2

#define CPUID_1_RDRAND 30

/*
 * Gives the stack protector a value that nobody can foresee, before the first function that uses
 * it. A zero byte ends strings that overflow.
 */
choose_canary:
	rdtsc
	movl %edx, %r8d
	rolq $29, %r8
	xorq %rax, %r8
	movl $1, %eax
	cpuid
	btl $CPUID_1_RDRAND, %ecx
	jnc 1f
	rdrand %rax
	xorq %rax, %r8
1:	shlq $8, %r8
	movq %r8, __stack_chk_guard
	ret

	/* With a program's AC, the kernel could reach the program's memory by mistake. */
	.macro CLEAR_FLAGS
	cld
	testb $1, has_clac
	jz .Lhas_no_clac_\@
	clac
.Lhas_no_clac_\@:
	.endm

	.macro SAVE_REGISTERS
	.irp reg, rdi, rsi, rdx, rcx, rax, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15
	pushq %\reg
	.endr
	.endm

	.macro RESTORE_REGISTERS
	.irp reg, r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi
	popq %\reg
	.endr
	.endm

/*
 * There is one stub of STUB_BYTES for each vector. It pushes a zero if the CPU pushes no error
 * code, and the vector.
 */
	.balign STUB_BYTES
	.globl exception_stubs
exception_stubs:
	.set vector, 0
	.rept 256
	.balign STUB_BYTES
	.if vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || vector == 21 || vector == 29 || vector == 30
	.else
	pushq $0
	.endif
	pushq $vector
	.if vector == 2
	jmp nmi_entry
	.elseif vector == 8
	jmp emergency_entry
	.elseif vector == 18
	jmp machine_check_entry
	.else
	jmp trap_entry
	.endif
	.set vector, vector + 1
	.endr
	.balign STUB_BYTES

/* The stubs leave the vector below the error code on the stack, as struct frame has them. */
trap_entry:
	testb $3, 24(%rsp)
	jz 1f
	swapgs
1:	CLEAR_FLAGS
	SAVE_REGISTERS
handle_trap:
	movq %rsp, %rdi
	xorl %ebp, %ebp
	call trap
	/* falls through */

return_from_trap:
	testb $3, (FRAME_CS)(%rsp)
	jz 1f
	swapgs
1:	RESTORE_REGISTERS
	addq $16, %rsp
	iretq

/*
 * An NMI can come between any two instructions, also before swapgs. It runs on a page of its
 * own, as the exceptions below, touches nothing else and returns.
 */
nmi_entry:
	CLEAR_FLAGS
	SAVE_REGISTERS
	movq %rsp, %rdi
	movq %rsp, %rsi
	andq $-4096, %rsi
	movq (%rsi), %rsi
	call nmi
	RESTORE_REGISTERS
	addq $16, %rsp
	iretq

/*
 * A machine check comes like an NMI. If it ends the program, it goes on as an exception of the
 * program, on the kernel's stack.
 */
machine_check_entry:
	CLEAR_FLAGS
	SAVE_REGISTERS
	movq %rsp, %rdi
	movq %rsp, %rsi
	andq $-4096, %rsi
	movq (%rsi), %rsi
	call machine_check
	testb %al, %al
	jnz 1f
	RESTORE_REGISTERS
	addq $16, %rsp
	iretq
1:	swapgs
	movq %rsp, %rsi
	movq %gs:SLOT_KERNEL_RSP, %rdi
	subq $FRAME_BYTES, %rdi
	movq %rdi, %rdx
	movl $(FRAME_BYTES / 8), %ecx
	rep movsq
	movq %rdx, %rsp
	jmp handle_trap

/*
 * A double fault never returns. It runs on a page of its own whose first word is this CPU's
 * struct slot, because GS may be the kernel's or the process's.
 */
emergency_entry:
	CLEAR_FLAGS
	SAVE_REGISTERS
	movq %rsp, %rdi
	movq %rsp, %rcx
	andq $-4096, %rcx
	movq (%rcx), %rax
	movq %rax, %rdx
	shrq $32, %rdx
	movl $MSR_GS_BASE_NUMBER, %ecx
	wrmsr
	xorl %ebp, %ebp
	call kernel_fault
	ud2

/* SYSCALL: RCX is the user's RIP, R11 its flags; interrupts are off (SFMASK). */
	.globl syscall_entry
	.balign 64
syscall_entry:
	swapgs
	movq %rsp, %gs:SLOT_USER_RSP
	movq %gs:SLOT_KERNEL_RSP, %rsp
	pushq $USER_DS_NUMBER
	pushq %gs:SLOT_USER_RSP
	pushq %r11
	pushq $USER_CS_NUMBER
	pushq %rcx
	pushq %rax
	pushq $SYSCALL_VECTOR_NUMBER
	SAVE_REGISTERS
	movq %rsp, %rdi
	xorl %ebp, %ebp
	call syscall
	/*
	 * SYSRET only for an unchanged RIP and flags, which are in RCX and R11: a
	 * signal or sigreturn changes them, and IRET can restore everything.
	 */
	movq FRAME_RCX(%rsp), %rcx
	cmpq %rcx, FRAME_RIP(%rsp)
	jne return_from_trap
	movq FRAME_R11(%rsp), %r11
	cmpq %r11, FRAME_RFLAGS(%rsp)
	jne return_from_trap
	RESTORE_REGISTERS
	movq (16 + 24)(%rsp), %rsp
	swapgs
	sysretq

/* RDI: a struct frame with user mode's registers. */
	.globl enter_user
enter_user:
	movq %rdi, %rsp
	jmp return_from_trap

	.globl restart_slot
restart_slot:
	movq %gs:SLOT_KERNEL_RSP, %rsp
	xorl %ebp, %ebp
	call slot_loop
	ud2

/* RDI: where to store the end of this stack; RSI: the end of another stack that it has stored. */
	.globl switch_stack
switch_stack:
	.irp reg, rbx, rbp, r12, r13, r14, r15
	pushq %\reg
	.endr
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	.irp reg, r15, r14, r13, r12, rbp, rbx
	popq %\reg
	.endr
	ret

	.section .note.GNU-stack, "", @progbits
