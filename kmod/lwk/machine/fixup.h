/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions of the kernel that may fault, because a program has chosen what they work on. */
#ifndef LWK_MACHINE_FIXUP_H
#define LWK_MACHINE_FIXUP_H

#include "lwk/base/types.h"

struct frame;

/* In an asm statement: when the instruction at label 'from' faults, the code at 'to' goes on. */
#define FIXUP(from, to)                                                                            \
	".pushsection fixups, \"a\"\n\t"                                                           \
	".quad " from ", " to "\n\t"                                                               \
	".popsection\n\t"

/* Lets the code go on behind an instruction that may fault; false: it is another one. */
bool fixup(struct frame *frame);

#endif
