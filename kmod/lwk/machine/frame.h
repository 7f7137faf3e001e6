/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of interrupted or calling code, as entry.S saves them. */
#ifndef LWK_MACHINE_FRAME_H
#define LWK_MACHINE_FRAME_H

#include "lwk/base/types.h"

struct frame {
	u64 r15, r14, r13, r12, rbp, rbx;
	u64 r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	u64 vector; /* of the exception or interrupt; SYSCALL_VECTOR */
	u64 error;  /* of the exception; the number of the system call */
	u64 rip, cs, rflags, rsp, ss;
};
#define SYSCALL_VECTOR 0x100

#endif
