// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps the eventfds that listen for what happens to an instance, and signals them.
 */
#include "instance/event.h"

#include <linux/capability.h>
#include <linux/eventfd.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "compat/compat.h"

struct listener {
	struct list_head link;
	const void *owner; /* the open file */
	struct eventfd_ctx *eventfd;
	enum lwk_event event;
};

void events_init(struct events *events)
{
	spin_lock_init(&events->lock);
	INIT_LIST_HEAD(&events->listeners);
}

/*
 * Adds a listener: 0; -ENOSPC: its owner has LWK_MAX_EVENTFDS already, or the instance 'most'; -EEXIST.
 * The list is walked, and all that wait for an eventfd are woken, with interrupts off: so the list's
 * length has a bound, and an eventfd is told of an event once.
 */
static int enter(struct events *events, struct listener *new, unsigned int most)
{
	struct listener *listener;
	unsigned int count = 0;
	unsigned long flags;
	int error = 0;

	spin_lock_irqsave(&events->lock, flags);
	list_for_each_entry(listener, &events->listeners, link) {
		count += listener->owner == new->owner;
		if (listener->eventfd == new->eventfd && listener->event == new->event)
			error = -EEXIST;
	}
	if (count >= LWK_MAX_EVENTFDS || events->n_listeners >= most)
		error = -ENOSPC;
	if (!error) {
		list_add(&new->link, &events->listeners);
		events->n_listeners++;
	}
	spin_unlock_irqrestore(&events->lock, flags);
	return error;
}

int event_listen(struct events *events, const void *owner, const struct lwk_eventfd *request)
{
	/* A job's user cannot keep out the administrator's watchers. */
	unsigned int most = ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN)
				    ? UINT_MAX
				    : LWK_MAX_INSTANCE_EVENTFDS;
	struct eventfd_ctx *eventfd;
	struct listener *listener;
	int error;

	if (request->event >= LWK_EVENTS)
		return -EINVAL;
	eventfd = eventfd_ctx_fdget(request->fd);
	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);
	listener = kmalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT);
	if (!listener) {
		eventfd_ctx_put(eventfd);
		return -ENOMEM;
	}
	*listener = (struct listener){
		.owner = owner,
		.eventfd = eventfd,
		.event = request->event,
	};
	error = enter(events, listener, most);
	if (!error)
		return 0;
	eventfd_ctx_put(eventfd);
	kfree(listener);
	return error;
}

void event_forget(struct events *events, const void *owner)
{
	struct listener *listener, *next;
	unsigned long flags;
	LIST_HEAD(gone);

	spin_lock_irqsave(&events->lock, flags);
	list_for_each_entry_safe(listener, next, &events->listeners, link)
		if (listener->owner == owner) {
			list_move(&listener->link, &gone);
			events->n_listeners--;
		}
	spin_unlock_irqrestore(&events->lock, flags);
	list_for_each_entry_safe(listener, next, &gone, link) {
		eventfd_ctx_put(listener->eventfd);
		kfree(listener);
	}
}

void event_signal(struct events *events, enum lwk_event event)
{
	struct listener *listener;
	unsigned long flags;

	spin_lock_irqsave(&events->lock, flags);
	list_for_each_entry(listener, &events->listeners, link)
		if (listener->event == event)
			compat_eventfd_signal(listener->eventfd);
	spin_unlock_irqrestore(&events->lock, flags);
}
