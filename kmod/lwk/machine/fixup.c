/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/machine/fixup.h"

#include "lwk/machine/frame.h"

/* The linker collects them. */
extern const struct {
	u64 from, to;
} fixups_start[], fixups_end[];

bool fixup(struct frame *frame)
{
	for (u64 i = 0; &fixups_start[i] < fixups_end; i++) {
		if (fixups_start[i].from == frame->rip) {
			frame->rip = fixups_start[i].to;
			return true;
		}
	}
	return false;
}
