/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vdso.c as it was linked, for space.c to map. */
#include "lwk/machine/entry.h"

	.section .rodata
	.globl vdso_start, vdso_end
	.balign 16
vdso_start:
	.incbin "kmod/lwk/time/vdso.so"
vdso_end:
	.if vdso_end - vdso_start > VDSO_BYTES
	.error "the vDSO is longer than VDSO_BYTES"
	.endif
	.section .note.GNU-stack, "", @progbits
