/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The channel of a thread: packets from the LWK, and replies to it. */
#ifndef LWKPART_CHANNEL_H
#define LWKPART_CHANNEL_H

#include "abi/shared/channel.h"
#include "process/thread/thread.h"

enum mail {
	MAIL_NONE,  /* no packet yet */
	MAIL_WAITS, /* a packet waits */
	MAIL_NEVER, /* no packet will come any more */
};

/*
 * Looks for a packet, so many times. Tells the LWK whether the caller sleeps afterwards, and so
 * needs a doorbell.
 */
enum mail channel_look(struct lwk_thread *thread, bool then_sleep, unsigned int looks);
/*
 * Copies the first packet, which stays in the channel. False when there is no channel, or the
 * LWK has not taken all signals yet: then the packet is the proxy's.
 */
bool channel_peek(struct lwk_thread *thread, struct lwk_packet *packet);
/* Removes the first packet, to which the proxy replies. */
void channel_drop(struct lwk_thread *thread);
/*
 * Removes the first packet, which has this id, and replies with the call's result. Returns true
 * when the LWK needs a doorbell.
 */
bool channel_answer(struct lwk_thread *thread, u32 id, s64 result);
/* LWK_DOORBELL: 0 or -EIO. Takes rwsem. */
long channel_ring(struct lwk_thread *thread);
/* Rings the doorbell with rwsem held. False: there is no channel any more. */
bool channel_ring_held(struct lwk_thread *thread);
/* Takes the channel away from the thread. */
void channel_forget(struct lwk_thread *thread);

#endif
