// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/thread/channel.h"

#include "instance/orders/doorbell.h"

/* Are there signals that the LWK has not taken yet? */
static bool signals_wait(const struct lwk_channel *channel)
{
	return READ_ONCE(channel->signals.head) != READ_ONCE(channel->signals.tail);
}

enum mail channel_look(struct lwk_thread *thread, bool then_sleep, unsigned int looks)
{
	struct lwk_channel *channel;
	enum mail mail = MAIL_NEVER;

	spin_lock(&thread->lock);
	channel = thread->channel;
	if (channel) {
		if (READ_ONCE(channel->linux_sleeps) != then_sleep) {
			WRITE_ONCE(channel->linux_sleeps, then_sleep);
			smp_mb(); /* the LWK writes 'head', then reads 'linux_sleeps' */
		}
		do
			mail = smp_load_acquire(&channel->to_linux.head) !=
					       READ_ONCE(channel->to_linux.tail)
				       ? MAIL_WAITS
				       : MAIL_NONE;
		while (mail == MAIL_NONE && --looks);
		if (mail == MAIL_NONE &&
		    !state_has_processes(READ_ONCE(thread->process->instance->state)))
			mail = MAIL_NEVER;
	}
	spin_unlock(&thread->lock);
	return mail;
}

bool channel_peek(struct lwk_thread *thread, struct lwk_packet *packet)
{
	struct lwk_ring *ring;
	bool quiet = false;

	spin_lock(&thread->lock);
	if (thread->channel) {
		ring = &thread->channel->to_linux;
		quiet = !signals_wait(thread->channel);
		*packet = ring->slot[READ_ONCE(ring->tail) % LWK_RING_SLOTS];
	}
	spin_unlock(&thread->lock);
	return quiet;
}

bool channel_ring_held(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	const struct lwk_channel *channel = READ_ONCE(thread->channel);

	if (!serves(instance) || !channel)
		return false;
	if (READ_ONCE(channel->lwk_sleeps) || signals_wait(channel))
		doorbell_ring(instance, thread->slot);
	return true;
}

long channel_ring(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	bool rung;

	down_read(&instance->rwsem);
	rung = channel_ring_held(thread);
	up_read(&instance->rwsem);
	return rung ? 0 : -EIO;
}

/* With thread->lock held. */
static void remove_first(struct lwk_channel *channel)
{
	smp_store_release(&channel->to_linux.tail, READ_ONCE(channel->to_linux.tail) + 1);
}

void channel_drop(struct lwk_thread *thread)
{
	spin_lock(&thread->lock);
	if (thread->channel)
		remove_first(thread->channel);
	spin_unlock(&thread->lock);
}

bool channel_answer(struct lwk_thread *thread, u32 id, s64 result)
{
	struct lwk_channel *channel;
	struct lwk_packet *reply;
	bool sleeps = false;
	u32 head;

	spin_lock(&thread->lock);
	channel = thread->channel;
	if (channel) {
		remove_first(channel);
		head = READ_ONCE(channel->to_lwk.head);
		reply = &channel->to_lwk.slot[head % LWK_RING_SLOTS];
		reply->kind = LWK_PACKET_REPLY;
		reply->id = id;
		reply->args[0] = result;
		smp_store_release(&channel->to_lwk.head, head + 1);
		smp_mb(); /* the LWK writes 'lwk_sleeps', then reads 'head' */
		sleeps = READ_ONCE(channel->lwk_sleeps);
	}
	spin_unlock(&thread->lock);
	return sleeps;
}

void channel_forget(struct lwk_thread *thread)
{
	spin_lock(&thread->lock);
	thread->channel = NULL;
	spin_unlock(&thread->lock);
}
