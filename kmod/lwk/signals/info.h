/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The information that a program gets with a signal. */
#ifndef LWK_SIGNALS_INFO_H
#define LWK_SIGNALS_INFO_H

#include "abi/shared/channel.h"
#include "lwk/base/types.h"

/* siginfo_t of <asm/siginfo.h>: its first words are a struct lwk_signal, and the rest is 0. */
struct signal_info {
	struct lwk_signal signal;
	u64 rest[10];
};
_Static_assert(sizeof(struct signal_info) == 128, "as Linux's");

#endif
