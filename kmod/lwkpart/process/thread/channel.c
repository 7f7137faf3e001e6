// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/thread/channel.h"

#include "instance/mail.h"
#include "instance/orders/doorbell.h"

enum mail channel_look(struct lwk_thread *thread, bool then_sleep, unsigned int looks)
{
	struct lwk_channel *channel;
	enum mail mail = MAIL_NEVER;

	spin_lock(&thread->lock);
	channel = thread->channel;
	if (channel) {
		if (READ_ONCE(channel->linux_sleeps) != then_sleep) {
			WRITE_ONCE(channel->linux_sleeps, then_sleep);
			smp_mb(); /* the LWK writes 'turn', then reads 'linux_sleeps' */
		}
		do
			mail = mail_waits(&channel->to_linux) ? MAIL_WAITS : MAIL_NONE;
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
	bool is_here;

	spin_lock(&thread->lock);
	is_here = thread->channel && channel_first(thread->channel, packet);
	spin_unlock(&thread->lock);
	return is_here;
}

bool channel_ring_held(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	const struct lwk_channel *channel = READ_ONCE(thread->channel);

	if (!serves(instance) || !channel)
		return false;
	if (READ_ONCE(channel->lwk_sleeps) || channel_has_signals(channel))
		doorbell_ring(instance, thread->slot);
	return true;
}

long channel_ring(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	bool rung;

	if (down_read_killable(&instance->rwsem))
		return -EINTR;
	rung = channel_ring_held(thread);
	up_read(&instance->rwsem);
	return rung ? 0 : -EIO;
}

void channel_drop(struct lwk_thread *thread)
{
	spin_lock(&thread->lock);
	if (thread->channel)
		channel_remove_first(thread->channel);
	spin_unlock(&thread->lock);
}

bool channel_answer(struct lwk_thread *thread, u32 id, s64 result)
{
	bool sleeps;

	spin_lock(&thread->lock);
	sleeps = thread->channel && channel_reply(thread->channel, id, result);
	spin_unlock(&thread->lock);
	return sleeps;
}

void channel_forget(struct lwk_thread *thread)
{
	spin_lock(&thread->lock);
	thread->channel = NULL;
	spin_unlock(&thread->lock);
}
