/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Eventfds that tell what happens to an instance. */
#ifndef LWKPART_EVENT_H
#define LWKPART_EVENT_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include "abi/device/watch.h"

/* The listeners of one instance. */
struct events {
	spinlock_t lock;
	struct list_head listeners;
	unsigned int n_listeners;
};

void events_init(struct events *events);
/* LWK_EVENTFD. 'owner' is the open file that listens. 0, -EBADF, -EINVAL, -ENOSPC, -ENOMEM. */
int event_listen(struct events *events, const void *owner, const struct lwk_eventfd *request);
/* Removes all listeners of an owner. */
void event_forget(struct events *events, const void *owner);
/* Counts the event for all who listen to it. Any context. */
void event_signal(struct events *events, enum lwk_event event);

#endif
