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

/* True while there are signals that the LWK has not taken yet. */
static inline bool channel_has_signals(const struct lwk_channel *channel)
{
	return READ_ONCE(channel->signals.head) != READ_ONCE(channel->signals.tail);
}

/*
 * Copies the first packet, which stays in the channel. False when the LWK has not taken all signals
 * yet: then the packet is the proxy's. The caller holds the thread's channel ('shown', or the
 * thread's lock), here and below, and nobody else serves it.
 */
static inline bool channel_first(const struct lwk_channel *channel, struct lwk_packet *packet)
{
	const struct lwk_ring *ring = &channel->to_linux;

	*packet = ring->slot[READ_ONCE(ring->count) % LWK_RING_SLOTS];
	barrier(); /* the LWK may change its packet; what is looked at is the copy */
	return !channel_has_signals(channel);
}

static inline void channel_remove_first(struct lwk_channel *channel)
{
	smp_store_release(&channel->to_linux.count, READ_ONCE(channel->to_linux.count) + 1);
}

/*
 * Removes the first packet, which has this id, and replies with the call's result. Returns true
 * when the LWK needs a doorbell.
 */
static inline bool channel_reply(struct lwk_channel *channel, u32 id, s64 result)
{
	u32 count = READ_ONCE(channel->to_lwk.count);
	struct lwk_packet *reply = &channel->to_lwk.slot[count % LWK_RING_SLOTS];

	channel_remove_first(channel);
	reply->kind = LWK_PACKET_REPLY;
	reply->id = id;
	reply->args[0] = result;
	WRITE_ONCE(channel->to_lwk.count, count + 1);
	smp_store_release(&reply->turn, (u16)(count + 1));
	smp_mb(); /* the LWK writes 'lwk_sleeps', then reads 'turn' */
	return READ_ONCE(channel->lwk_sleeps);
}

/* channel_first(), if there is a channel. */
bool channel_peek(struct lwk_thread *thread, struct lwk_packet *packet);
/* Removes the first packet, to which the proxy replies. */
void channel_drop(struct lwk_thread *thread);
/* channel_reply(), if there is a channel. */
bool channel_answer(struct lwk_thread *thread, u32 id, s64 result);
/* LWK_DOORBELL: 0, -EIO; -EINTR: the caller is killed. Takes rwsem. */
long channel_ring(struct lwk_thread *thread);
/* Rings the doorbell with rwsem held. False: there is no channel any more. */
bool channel_ring_held(struct lwk_thread *thread);
/* Takes the channel away from the thread. */
void channel_forget(struct lwk_thread *thread);

#endif
