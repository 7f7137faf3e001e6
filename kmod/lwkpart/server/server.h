/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Servers: kernel threads that make delegated calls for the threads of an instance. One serves all
 * channels of the instance whose doorbells come to one CPU of Linux, in turns, so that no task switch
 * comes between the calls of two programs. It sleeps while nobody asks.
 */
#ifndef LWKPART_SERVER_H
#define LWKPART_SERVER_H

#include "instance/instance.h"

/*
 * A channel that a server looks after, while the Linux thread that it belongs to waits. The functions run
 * in the server's thread, one call at a time.
 */
struct server_client {
	struct list_head link;
	bool with_server; /* written by server.c; false: the server does not touch the client any more */
	wait_queue_head_t
		*wait; /* where the waiting thread is woken when the server gives the client up */
	/* Is there anything to do? 'then_sleep': the server sleeps if not, and needs a doorbell. */
	bool (*look)(struct server_client *client, bool then_sleep);
	/* Does one piece of work, without waiting for anything. False: the waiting thread must do it. */
	bool (*serve)(struct server_client *client);
};

/*
 * Returns the server for the doorbells of an LWK CPU, and starts it if there is none yet. NULL: the
 * instance has no processes any more, a fatal signal, no memory. Sleeps.
 */
struct server *server_get(struct instance *instance, unsigned int cpu_index);
/* From now on the server serves the client, until it gives the client up. */
void server_add(struct server *server, struct server_client *client);
/* Takes the client back: waits until the server has finished the turn that is under way. */
void server_remove(struct server *server, struct server_client *client);
/* Ends all servers, after the state has changed to one that has no processes. */
void servers_stop(struct instance *instance);
/* Returns the nanoseconds of CPU time that the servers have used since the last call. */
u64 servers_take_time(struct instance *instance);

#endif
