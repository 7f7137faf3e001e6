/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every way into and out of the kernel. cpu.c asserts that the numbers match the structures. */
#ifndef LWK_MACHINE_ENTRY_H
#define LWK_MACHINE_ENTRY_H

#define STUB_BYTES 16
#define SLOT_USER_RSP 8
#define SLOT_KERNEL_RSP 16
/* Registers that switch_stack() leaves on a stack, below the address that it returns to. */
#define SWITCH_REGISTERS 6
#define FRAME_R11 48
#define FRAME_RCX 88
#define FRAME_RIP 136
#define FRAME_CS 144
#define FRAME_RFLAGS 152
#define FRAME_BYTES 176
#define USER_CS_NUMBER 0x33
#define USER_DS_NUMBER 0x2b
/* A segment whose limit is the CPU's number, and its node << 12. */
#define CPU_NODE_SELECTOR_NUMBER 0x53
#define VDSO_BYTES 4096
#define SYSCALL_VECTOR_NUMBER 0x100
#define MSR_GS_BASE_NUMBER 0xc0000101

#ifndef __ASSEMBLER__

#include "lwk/base/types.h"

struct frame;

void enter_user(const struct frame *frame) __attribute__((noreturn));
/* Forgets everything on this slot's kernel stack and calls slot_loop(). */
void restart_slot(void) __attribute__((noreturn));
void syscall_entry(void);
/* The CPUs have the instruction CLAC. */
extern u8 has_clac;
extern u8 exception_stubs[];
/* Goes on with the stack 'to', and stores where the present one ends. */
void switch_stack(u64 *from, u64 to);

#endif

#endif
