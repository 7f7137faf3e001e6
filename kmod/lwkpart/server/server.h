/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Servers: kernel threads that make delegated calls for the threads of an instance. One serves all
 * channels of the instance whose doorbells come to one CPU of Linux, in turns, so that no task
 * switch comes between the calls of two programs. It sleeps while nobody asks.
 */
#ifndef LWKPART_SERVER_H
#define LWKPART_SERVER_H

#include "abi/shared/channel.h"
#include "instance/instance.h"

/* A channel that a server looks after, while the Linux thread that it belongs to waits. */
struct server_client {
	struct list_head link;
	bool with_server; /* written by server.c; false: the server leaves the client alone */
	wait_queue_head_t
		*wait; /* where the waiting thread is woken when the server gives the client up */
	const struct lwk_ring *requests; /* the server looks at its counts only */
	const struct cred *cred;	 /* of the waiting thread; the server acts as it */
	/*
	 * Tells the LWK whether the server needs a doorbell, as it does when it sleeps. Returns
	 * true when there is something to do. Any thread.
	 */
	bool (*look)(struct server_client *client, bool then_sleep);
	/*
	 * Does one piece of work, without waiting for anything. False: the waiting thread must do
	 * it. Runs in the server's thread, one call at a time, with the instance's rwsem held for
	 * reading, in a state that has processes.
	 */
	bool (*serve)(struct server_client *client);
};

/*
 * Returns the server for the doorbells of an LWK CPU, and starts it if there is none yet. NULL: the
 * instance has no processes any more, a fatal signal, no memory. Sleeps.
 */
struct server *server_get(struct instance *instance, unsigned int cpu_index);
/* From now on the server serves the client, until it gives the client up. */
void server_add(struct server *server, struct server_client *client);
/*
 * Takes the client back. A call that the server makes meanwhile ends early if it waits for
 * anything.
 */
void server_remove(struct server *server, struct server_client *client);
/*
 * Ends the call that the server makes if it has taken as long as two calls of this function are
 * apart, against all expectation. *turn is 0 at first, and the function's own.
 */
void server_watch(struct server *server, unsigned int *turn);
/* Ends the calls that wait, before the instance stops. The caller has set its 'stopping'. */
void servers_hurry(struct instance *instance);
/* Ends all servers, after the state has changed to one that has no processes. */
void servers_stop(struct instance *instance);
/* Returns the nanoseconds of CPU time that the servers have used since the last call. */
u64 servers_take_time(struct instance *instance);

#endif
