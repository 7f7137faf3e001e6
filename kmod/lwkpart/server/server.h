/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server makes delegated calls for the threads of an instance whose doorbells come to one CPU of
 * Linux, in turns, so that no task switch comes between the calls of two programs. It is no thread
 * of its own: one of the Linux threads that wait for packets, its leader, serves the others while
 * it is awake. When nobody asks, all sleep, and the first that gets a packet leads next.
 */
#ifndef LWKPART_SERVER_H
#define LWKPART_SERVER_H

#include <linux/sched/signal.h>

#include "abi/shared/channel.h"
#include "instance/instance.h"

/* A channel that a server looks after, while the Linux thread that it belongs to waits. */
struct server_client {
	struct list_head link;
	bool with_server; /* written by server.c; false: the server leaves the client alone */
	wait_queue_head_t *wait;	 /* where the waiting thread is woken; the instance's */
	const struct lwk_ring *requests; /* the server looks whether a packet is there */
	const struct cred *cred;	 /* of the waiting thread; the leader acts as it */
	/*
	 * Tells the LWK whether the server needs a doorbell, as it does when nobody leads. Returns
	 * true when there is something to do. Any thread.
	 */
	bool (*look)(struct server_client *client, bool then_sleep);
	/*
	 * Does one piece of work, without waiting for anything. False: the waiting thread must do
	 * it. Runs in the leader, one call at a time, with the instance's rwsem held for reading,
	 * in a state that has processes.
	 */
	bool (*serve)(struct server_client *client);
};

void server_init(struct server *server, struct instance *instance);
/* The server for the doorbells of an LWK CPU. */
struct server *server_of(struct instance *instance, unsigned int cpu_index);
/*
 * From now on the server serves the client, until it gives the client up. False: it does not, as the
 * caller is killed.
 */
bool server_add(struct server *server, struct server_client *client);
/*
 * Leads, unless another thread does: serves all clients until nobody asks for a while, the caller's
 * own client has been given up, server_must_leave(), or until that time (jiffies). Takes rwsem.
 */
void server_lead(struct server *server, struct server_client *client, unsigned long until);
/* Takes the client back. */
void server_remove(struct server *server, struct server_client *client);

/* True while a thread serves the clients. */
static inline bool server_is_led(const struct server *server)
{
	return READ_ONCE(server->led);
}

/*
 * True when the caller must leave the kernel: Linux has signals to deliver, the last close of a
 * file to finish, or the caller to stop because its cgroup's quota is used up (since 6.18, where
 * nothing else stops a thread that does not leave).
 */
static inline bool server_must_leave(void)
{
	return signal_pending(current) || READ_ONCE(current->task_works);
}

#endif
