/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int64_t interruptible_syscall(nr, args, signals): a system call that a signal interrupts even
 * when the signal comes just before it.
 * A signal between the look at *signals and the system call would be missed; its handler therefore
 * moves an instruction pointer between start and end to give_up (process/signals.c).
 */
#ifdef __CET__
#include <cet.h> /* marks this file as fit for CET; without the mark the program would not be */
#endif
	.text
	.globl interruptible_syscall, interruptible_start, interruptible_end
	.globl interruptible_give_up
	.type interruptible_syscall, @function
interruptible_syscall:
	endbr64
	pushq %rbx
	pushq %r12
	movq %rdx, %rbx
	movq %rsi, %r12
	movq %rdi, %rax
	movq 0(%r12), %rdi
	movq 8(%r12), %rsi
	movq 16(%r12), %rdx
	movq 24(%r12), %r10
	movq 32(%r12), %r8
	movq 40(%r12), %r9
interruptible_start:
	movl 0(%rbx), %ecx /* head */
	cmpl 4(%rbx), %ecx /* tail */
	jne interruptible_give_up
	syscall
interruptible_end:
	popq %r12
	popq %rbx
	ret
interruptible_give_up:
	movq $-513, %rax /* INTERRUPTIBLE_GIVEN_UP */
	popq %r12
	popq %rbx
	ret
	.size interruptible_syscall, . - interruptible_syscall
	.globl signal_restorer
	.type signal_restorer, @function
signal_restorer:
	movl $15, %eax /* rt_sigreturn */
	syscall
	.size signal_restorer, . - signal_restorer
	.section .note.GNU-stack, "", @progbits
