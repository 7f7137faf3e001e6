// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server belongs to one job, as its leader does: the CPU time that it takes is that of a proxy of
 * the job, in the job's cgroups, whatever their version, and Linux holds it to their quota and
 * weight and accounts for it as for all that the proxy does. A leader never waits with the mutex
 * held, except for its turn on the CPU, before which it tries to let the mutex go; so a quota that
 * is used up delays others of the job by some periods of it at most. For rwsem, which may be held for
 * a minute, it waits before it takes the mutex, and a signal that kills it ends that wait: clients
 * come and go meanwhile.
 *
 * Linux's scheduler is fair among the leaders on a CPU, and a leader among the clients: it does one
 * call of each in turn.
 */
#include "server/server.h"

#include <linux/cred.h>
#include <linux/rwsem.h>

#include "compat/compat.h"
#include "instance/mail.h"
#include "instance/state.h"
#include "server/spin.h"

/* Looks at all clients between two readings of the clock. */
#define LOOKS 16

void server_init(struct server *server, struct instance *instance)
{
	server->instance = instance;
	mutex_init(&server->mutex);
	INIT_LIST_HEAD(&server->clients);
}

/* The first LWK CPU with the same target has the server. */
struct server *server_of(struct instance *instance, unsigned int cpu_index)
{
	unsigned int i = 0;

	while (instance->doorbells.target[i] != instance->doorbells.target[cpu_index])
		i++;
	return &instance->servers[i];
}

/* Acts with these credentials, which stay their owner's meanwhile; NULL: with the leader's. */
static void act_as(struct server *server, const struct cred *cred)
{
	if (current_cred() == cred)
		return;
	if (server->own)
		revert_creds(server->own);
	server->own = NULL;
	if (cred && current_cred() != cred)
		server->own = override_creds(cred);
}

/* With the mutex held: the thread that waits has its client back. */
static void give_up(struct server *server, struct server_client *client)
{
	wait_queue_head_t *wait = client->wait;

	act_as(server, NULL);
	list_del(&client->link);
	/* From here on the client may cease to exist; its wait queue is the instance's. */
	smp_store_release(&client->with_server, false);
	wake_up(wait);
}

static void give_all_up(struct server *server)
{
	struct server_client *client, *next;

	list_for_each_entry_safe(client, next, &server->clients, link)
		give_up(server, client);
}

/* The channel exists because rwsem is held, in a state that has processes. */
static bool asks(const struct server_client *client)
{
	return mail_waits(client->requests);
}

static bool anybody_asks(const struct server *server)
{
	const struct server_client *client;

	list_for_each_entry(client, &server->clients, link)
		if (asks(client))
			return true;
	return false;
}

/*
 * Another task wants the mutex or rwsem, or the CPU, for which the leader must not wait with the
 * mutex; or there is a signal, which server_must_leave() looks at. Inlined, as it runs once a call.
 */
static __always_inline bool must_pause(const struct server *server)
{
	return atomic_read(&server->wanted) ||
	       READ_ONCE(current_thread_info()->flags) & (_TIF_NEED_RESCHED | _TIF_SIGPENDING) ||
	       rwsem_is_contended(&server->instance->rwsem);
}

/* True when the leader must stop leading. */
static bool must_end(const struct server_client *client, unsigned long until)
{
	return !client->with_server || server_must_leave() || time_after_eq(jiffies, until);
}

/*
 * Gives each client that asks one turn. Returns true when one did. A round that ends early goes on
 * with the same client.
 */
static bool serve_all(struct server *server)
{
	struct server_client *client, *next;
	bool asked = false;

	list_for_each_entry_safe(client, next, &server->clients, link) {
		if (!asks(client))
			continue;
		/* The caller has looked before the first one. */
		if (asked && must_pause(server)) {
			list_rotate_to_front(&client->link, &server->clients);
			break;
		}
		asked = true;
		act_as(server, client->cred);
		if (!client->serve(client))
			give_up(server, client);
	}
	return asked;
}

/* Tells the LWK that no client needs a doorbell while the leader looks. */
static void look_at_all(struct server *server)
{
	struct server_client *client;

	list_for_each_entry(client, &server->clients, link)
		client->look(client, false);
}

/* Has all clients ring, and wakes one of those who ask already, to lead. With the mutex held. */
static void call_next(struct server *server)
{
	struct server_client *client;
	bool called = false;

	list_for_each_entry(client, &server->clients, link) {
		if (!client->look(client, true) || called)
			continue;
		instance_wake_for_mail(client->wait);
		called = true;
	}
}

/* Nobody leads any more. With the mutex held. */
static void resign(struct server *server)
{
	WRITE_ONCE(server->led, false);
	smp_mb(); /* a thread that gets a packet now sees that nobody leads, or is seen to ask */
	call_next(server);
}

/* Somebody asks after a wait that was not so short that the clock was not read. */
static void end_wait(struct server *server)
{
	server->spin_ns =
		spin_after(server->instance, server->spin_ns, ktime_get_ns() - server->since);
	server->since = 0;
}

/*
 * Serves until nobody asks for a while: true. False: the leader must end or pause. With mutex and
 * rwsem held.
 */
static bool take_turns(struct server *server, const struct server_client *client,
		       unsigned long until)
{
	unsigned int looks = 0;
	u64 now;

	for (;;) {
		if (server->since && anybody_asks(server))
			end_wait(server);
		if (serve_all(server))
			looks = 0;
		else if (++looks % LOOKS) {
			cpu_relax();
			continue;
		}
		if (must_pause(server) || READ_ONCE(current->task_works) || !client->with_server ||
		    time_after_eq(jiffies, until))
			return false;
		if (!looks)
			continue;
		now = ktime_get_ns();
		if (!server->since)
			server->since = now;
		if (spin_is_over(server->spin_ns, now - server->since))
			return true;
	}
}

/* Leads for a while, with mutex and rwsem held. Returns false when the caller leads no more. */
static bool work(struct server *server, const struct server_client *client, unsigned long until)
{
	bool goes_on = false;

	if (state_has_processes(instance_state(server->instance))) {
		look_at_all(server);
		goes_on = !take_turns(server, client, until) && !must_end(client, until);
		act_as(server, NULL); /* the mutex keeps clients, and their credentials */
	} else {
		give_all_up(server);
	}
	if (!goes_on)
		resign(server);
	return goes_on;
}

static void lock(struct server *server)
{
	atomic_inc(&server->wanted);
	mutex_lock(&server->mutex);
	atomic_dec(&server->wanted);
}

/* Takes rwsem, then the mutex: 0, or -EINTR when the caller is killed before it has rwsem. */
static int lock_to_lead(struct server *server)
{
	int error = down_read_killable(&server->instance->rwsem);

	if (!error)
		lock(server);
	return error;
}

static void unlock_after_leading(struct server *server)
{
	mutex_unlock(&server->mutex);
	up_read(&server->instance->rwsem);
}

void server_lead(struct server *server, struct server_client *client, unsigned long until)
{
	bool goes_on;

	if (lock_to_lead(server))
		return;
	goes_on = !server->led;
	if (goes_on)
		WRITE_ONCE(server->led, true);
	while (goes_on && work(server, client, until)) {
		unlock_after_leading(server);
		cond_resched();
		if (lock_to_lead(server)) {
			lock(server);
			resign(server);
			mutex_unlock(&server->mutex);
			return;
		}
	}
	unlock_after_leading(server);
}

bool server_add(struct server *server, struct server_client *client)
{
	int error;

	atomic_inc(&server->wanted);
	error = mutex_lock_killable(&server->mutex);
	atomic_dec(&server->wanted);
	if (error)
		return false;
	client->with_server = true;
	list_add_tail(&client->link, &server->clients);
	mutex_unlock(&server->mutex);
	return true;
}

void server_remove(struct server *server, struct server_client *client)
{
	if (!smp_load_acquire(&client->with_server))
		return;
	lock(server);
	if (client->with_server) {
		list_del(&client->link);
		client->with_server = false;
		/* The client may have been called to lead. */
		if (!server->led)
			call_next(server);
	}
	mutex_unlock(&server->mutex);
}
