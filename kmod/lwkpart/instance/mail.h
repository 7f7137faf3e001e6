/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets for Linux in a channel. */
#ifndef LWKPART_MAIL_H
#define LWKPART_MAIL_H

#include <linux/types.h>

#include "abi/shared/channel.h"

/* True when a packet waits that Linux has not read. The ring is a channel's 'to_linux'. */
static inline bool mail_waits(const struct lwk_ring *requests)
{
	u32 count = READ_ONCE(requests->count);

	return smp_load_acquire(&requests->slot[count % LWK_RING_SLOTS].turn) == (u16)(count + 1);
}

#endif
