/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/linkage.h>
#include <asm/unwind_hints.h>

	.text
SYM_CODE_START_NOALIGN(try)
	UNWIND_HINT_UNDEFINED
	int3
SYM_CODE_END(try)
