/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The console's text in a ring. */
#ifndef ABI_SHARED_CONSOLE_H
#define ABI_SHARED_CONSOLE_H

#include <linux/types.h>

#include "abi/shared/layout.h"

#define LWK_CONSOLE_BYTES (64 * 1024 - LWK_CACHE_LINE)
/* Byte p of the console's text is text[p % LWK_CONSOLE_BYTES], for p < head. */
struct lwk_console {
	__u64 head;
	__u64 reserved[7];
	char text[LWK_CONSOLE_BYTES];
};

#endif
