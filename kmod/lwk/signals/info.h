/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program sees of a signal. */
#ifndef LWK_SIGNALS_INFO_H
#define LWK_SIGNALS_INFO_H

#include "abi/shared/channel.h"
#include "lwk/base/types.h"

/*
 * siginfo_t of <asm/siginfo.h>: the first words are what struct lwk_signal keeps, and the rest is
 * 0.
 */
struct signal_info {
	struct lwk_signal signal;
	u64 rest[10];
};
_Static_assert(sizeof(struct signal_info) == 128, "as Linux's");

#endif
