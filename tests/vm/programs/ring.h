/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of a channel, for programs that are their own proxies (abi/shared/channel.h). */
#ifndef PROGRAMS_RING_H
#define PROGRAMS_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "abi/shared/channel.h"

/* Takes the LWK's next packet out of the ring. False: there is none. */
static inline bool ring_read(struct lwk_ring *ring, struct lwk_packet *packet)
{
	const struct lwk_packet *next = &ring->slot[ring->count % LWK_RING_SLOTS];
	uint32_t count = ring->count + 1;

	if (__atomic_load_n(&next->turn, __ATOMIC_ACQUIRE) != (uint16_t)count)
		return false;
	*packet = *next;
	__atomic_store_n(&ring->count, count, __ATOMIC_RELEASE);
	return true;
}

/* Puts a packet for the LWK into the ring, whatever its 'turn'. */
static inline void ring_write(struct lwk_ring *ring, const struct lwk_packet *packet)
{
	struct lwk_packet *next = &ring->slot[ring->count % LWK_RING_SLOTS];

	next->kind = packet->kind;
	next->id = packet->id;
	next->nr = packet->nr;
	memcpy(next->args, packet->args, sizeof(next->args));
	ring->count++;
	__atomic_store_n(&next->turn, (uint16_t)ring->count, __ATOMIC_RELEASE);
}

#endif
