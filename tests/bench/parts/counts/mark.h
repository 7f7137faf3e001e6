/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks in a program that runs in the emulated machine: plugin.c counts what the machine does
 * between MARK_BEGIN and MARK_END. A mark is a long NOP with an operand that no compiler makes, so
 * on other machines it does nothing, in user mode as in any other.
 */
#ifndef COUNTS_MARK_H
#define COUNTS_MARK_H

/* nopl MARK(%rax): the magic number, what to do, and a label that the result has. */
#define MARK_MAGIC 0x4c570000U
#define MARK_ARM 1U /* count from here on; it takes effect within some thousand instructions */
#define MARK_BEGIN 2U
#define MARK_END 3U
#define MARK_DISARM 4U

#define MARK_WHAT(operand) (((operand) >> 8) & 0xff)
#define MARK_LABEL(operand) ((operand) & 0xff)

/* 'what' and 'label' are constants; a label is less than 256. */
#define MARK(what, label)                                                                          \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80; .long %c0" ::"i"(                                \
				 (int)(MARK_MAGIC | (what) << 8 | (label)))                        \
			 : "memory")

#endif
