/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread of a proxy that waits for packets leaves its channel to a server, which makes the calls
 * that it can and gives the channel back for the others.
 */
#ifndef LWKPART_SERVED_H
#define LWKPART_SERVED_H

#include "abi/shared/channel.h"
#include "process/thread/thread.h"
#include "server/server.h"
#include "server/transfer.h"

struct served {
	struct server_client client;
	struct server *server;
	struct lwk_thread *thread;
	struct transfer transfer;
	struct lwk_packet packet; /* the one that is served */
	u64 before;		  /* calls that servers had made for the thread */
};

/*
 * Leaves the channel of the calling proxy's thread to a server. False: the thread waits for its
 * packets itself, because servers may not serve it, or had to give the channel back too often.
 */
bool served_begin(struct served *served, struct lwk_thread *thread);
/*
 * Waits until the channel is given back, or no packet comes any more: 1. 0: a time in jiffies has
 * passed. Negative: the thread has to leave the kernel.
 */
long served_wait(struct served *served, unsigned long most);
/* Takes the channel back. */
void served_end(struct served *served);

#endif
