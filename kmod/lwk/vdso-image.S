/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vdso.c, as it was linked, for space.c. */
	.section .rodata
	.globl vdso_start, vdso_end
	.balign 16
vdso_start:
	.incbin "kmod/lwk/vdso.so"
vdso_end:
	.section .note.GNU-stack, "", @progbits
