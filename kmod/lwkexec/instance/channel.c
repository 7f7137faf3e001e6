/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/channel.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>

#include "abi/device/serve.h"
#include "abi/shared/calls.h"
#include "lwkexec/base/descriptors.h"
#include "lwkexec/instance/session.h"

static const struct channel_server *server;
static __thread uint32_t last_id;
static __thread struct lwk_serve serve;

void channel_init(const struct channel_server *new)
{
	server = new;
}

static bool try_receive(struct lwk_packet *packet)
{
	struct lwk_ring *ring = &own.channel->to_linux;
	const struct lwk_packet *next = &ring->slot[ring->count % LWK_RING_SLOTS];
	uint32_t count = ring->count + 1;

	if (__atomic_load_n(&next->turn, __ATOMIC_ACQUIRE) != (uint16_t)count)
		return false;
	*packet = *next;
	__atomic_store_n(&ring->count, count, __ATOMIC_RELEASE);
	return true;
}

static void send_packet(enum lwk_packet_kind kind, uint32_t id, uint64_t nr, const uint64_t args[6])
{
	struct lwk_ring *ring = &own.channel->to_lwk;
	/* At most one request and one reply are under way, so there is a free place. */
	struct lwk_packet *packet = &ring->slot[ring->count % LWK_RING_SLOTS];

	packet->kind = kind;
	packet->id = id;
	packet->nr = nr;
	memcpy(packet->args, args, sizeof(packet->args));
	ring->count++;
	__atomic_store_n(&packet->turn, (uint16_t)ring->count, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&own.channel->lwk_sleeps, __ATOMIC_RELAXED))
		ioctl(session.device, LWK_DOORBELL);
}

static void reply(uint32_t id, int64_t result)
{
	send_packet(LWK_PACKET_REPLY, id, 0, (const uint64_t[6]){ result });
}

static void receive(struct lwk_packet *packet)
{
	/* With LWK_SERVE_CALLS lwkpart.ko looks first at packets that wait already. */
	if (!session.serve && try_receive(packet))
		return;
	do {
		serve.flags = session.serve;
		serve.keep_from = descriptor_next_kept(0);
		serve.has_reply = 0;
		if (ioctl(session.device, LWK_SERVE, &serve) && errno != EINTR)
			session_gone();
		if (serve.has_reply)
			reply(serve.id, serve.result);
	} while (serve.has_reply || !try_receive(packet));
}

void channel_serve(void)
{
	struct lwk_packet packet;
	int64_t result;

	for (;;) {
		receive(&packet);
		if (packet.kind != LWK_PACKET_REQUEST) {
			server->notice(&packet);
			continue;
		}
		result = server->request(&packet);
		if (!own.newborn)
			reply(packet.id, result);
		own.newborn = false;
	}
}

int64_t channel_call(uint64_t nr, const uint64_t args[6])
{
	struct lwk_packet packet;
	uint32_t id = ++last_id;

	send_packet(LWK_PACKET_REQUEST, id, nr, args);
	for (;;) {
		receive(&packet);
		if (packet.kind == LWK_PACKET_REPLY && packet.id == id)
			return packet.args[0];
		if (packet.kind == LWK_PACKET_REQUEST)
			reply(packet.id, server->request(&packet));
		else if (packet.kind == LWK_PACKET_NOTICE && packet.nr == LWK_CALL_EXIT)
			server->notice(&packet);
	}
}

uint64_t channel_served(void)
{
	return serve.served;
}

uint64_t channel_served_by_server(void)
{
	return serve.by_server;
}

static uint32_t signals_not_taken(const struct lwk_signals *ring)
{
	return ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

bool channel_signal(const struct lwk_signal *signal)
{
	struct lwk_signals *ring = &own.channel->signals;
	bool is_last = signals_not_taken(ring) + 1 >= LWK_SIGNAL_SLOTS;

	ring->slot[ring->head % LWK_SIGNAL_SLOTS] = *signal;
	if (is_last)
		__atomic_store_n(&ring->held, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_SEQ_CST);
	ioctl(session.device, LWK_DOORBELL);
	return !is_last;
}

bool channel_holds_signals(void)
{
	return __atomic_load_n(&own.channel->signals.held, __ATOMIC_RELAXED);
}

void channel_release_signals(void)
{
	if (signals_not_taken(&own.channel->signals) < LWK_SIGNAL_SLOTS)
		__atomic_store_n(&own.channel->signals.held, 0, __ATOMIC_RELAXED);
}

size_t channel_take_back(struct lwk_signal signals[LWK_SIGNAL_SLOTS])
{
	struct lwk_signals *ring = &own.channel->signals;
	uint32_t n = signals_not_taken(ring), first = ring->head - n;

	for (uint32_t i = 0; i < n && i < LWK_SIGNAL_SLOTS; i++)
		signals[i] = ring->slot[(first + i) % LWK_SIGNAL_SLOTS];
	__atomic_store_n(&ring->head, first, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->held, 0, __ATOMIC_RELAXED);
	return n < LWK_SIGNAL_SLOTS ? n : LWK_SIGNAL_SLOTS;
}
