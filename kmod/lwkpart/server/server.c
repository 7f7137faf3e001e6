// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server belongs to one job: it moves itself into the cgroups of the job's proxies, whose quota
 * and weight bind it, and a call that takes long against all expectation delays that job's calls
 * only. Linux's scheduler is fair among the servers of a CPU, and a server among its clients: it
 * does one call of each in turn.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "server/server.h"

#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "instance/state.h"

/*
 * How long to look for work before sleeping, as a proxy does (process/calls/serve.c): after a short wait
 * twice as long as before, after a long wait not at all, and not for long while another task wants
 * the CPU.
 */
#define SPIN_MIN 10000U
#define SPIN_MAX 200000U
#define SPIN_SHARED 50000U
/* Looks at all clients between two readings of the clock. */
#define LOOKS 16

struct server {
	struct instance *instance;
	unsigned int cpu;	  /* of Linux */
	struct server_bell *bell; /* of the instance */
	struct task_struct *task; /* NULL: it has been stopped; under instance->servers_mutex */
	struct mutex mutex;	  /* protects the next two; held while the server works and looks */
	struct list_head clients;
	bool stopped;
	atomic_t wanted;   /* threads that want the mutex */
	unsigned int turn; /* written by the thread; odd while it serves a client */
	unsigned int spin_ns;
	/* For which client the thread acts, and its own credentials meanwhile; NULL: for none. */
	const struct cred *acts_as, *own;
	u64 used;  /* CPU time of the thread, ns; written by the thread */
	u64 taken; /* how much of it servers_take_time() has returned; atomic */
};

/* The doorbell's interrupt reads the count. With the mutex held. */
static void count_client(struct server *server, int more)
{
	WRITE_ONCE(server->bell->clients, server->bell->clients + more);
}

/* Acts with these credentials, which stay its client's until the next call; NULL: with its own. */
static void act_as(struct server *server, const struct cred *cred)
{
	if (server->acts_as == cred)
		return;
	if (server->acts_as)
		revert_creds(server->own);
	if (cred)
		server->own = override_creds(cred);
	server->acts_as = cred;
}

/* The thread that waits has its client back. With the mutex held. */
static void give_up(struct server *server, struct server_client *client)
{
	wait_queue_head_t *wait = client->wait;

	act_as(server, NULL);
	list_del(&client->link);
	count_client(server, -1);
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
	return smp_load_acquire(&client->requests->head) != READ_ONCE(client->requests->tail);
}

static bool anybody_asks(const struct server *server)
{
	const struct server_client *client;

	list_for_each_entry(client, &server->clients, link)
		if (asks(client))
			return true;
	return false;
}

/* Gives each client that asks one turn. Returns true when one did. */
static bool serve_all(struct server *server)
{
	struct server_client *client, *next;
	bool served, asked = false;

	list_for_each_entry_safe(client, next, &server->clients, link) {
		if (!asks(client))
			continue;
		asked = true;
		/* server_remove() asks for the mutex, then looks whether a call is being made. */
		smp_store_mb(server->turn, server->turn + 1);
		act_as(server, client->cred);
		served = atomic_read(&server->wanted) || client->serve(client);
		WRITE_ONCE(server->turn, server->turn + 1);
		if (!served)
			give_up(server, client);
	}
	return asked;
}

/* Tells all clients whether they must ring. Returns true when one has something to do. */
static bool look_at_all(struct server *server, bool then_sleep)
{
	struct server_client *client;
	bool waits = false;

	list_for_each_entry(client, &server->clients, link)
		waits |= client->look(client, then_sleep);
	return waits;
}

static void adapt_spin(struct server *server, u64 waited)
{
	if (waited > SPIN_MAX)
		server->spin_ns = 0;
	else if (waited > server->spin_ns)
		server->spin_ns = clamp(server->spin_ns * 2, SPIN_MIN, SPIN_MAX);
}

/* Somebody waits for the CPU, for the clients or for the instance. */
static bool is_wanted(struct server *server)
{
	return atomic_read(&server->wanted) ||
	       READ_ONCE(current_thread_info()->flags) & (_TIF_NEED_RESCHED | _TIF_SIGPENDING) ||
	       rwsem_is_contended(&server->instance->rwsem);
}

static bool looked_enough(const struct server *server, u64 waited)
{
	return waited >= server->spin_ns || (waited >= SPIN_SHARED && !single_task_running());
}

/* Somebody asks after a wait that was not so short that the clock was not read. */
static void end_wait(struct server *server, u64 *since)
{
	adapt_spin(server, ktime_get_ns() - *since);
	*since = 0;
}

/*
 * Serves until nobody asks for a while, or until the server is wanted. With mutex and rwsem held.
 * 'since' is when the last call ended; 0: the clock has not been read since.
 */
static void take_turns(struct server *server, u64 *since)
{
	unsigned int looks = 0;
	u64 now;

	for (;;) {
		if (*since && anybody_asks(server))
			end_wait(server, since);
		if (serve_all(server)) {
			looks = 0;
			if (is_wanted(server))
				return;
			continue;
		}
		cpu_relax();
		if (++looks % LOOKS)
			continue;
		if (is_wanted(server))
			return;
		now = ktime_get_ns();
		if (!*since)
			*since = now;
		if (looked_enough(server, now - *since))
			return;
	}
}

/* As take_turns(). Returns false when the server should sleep. */
static bool work(struct server *server, u64 *since)
{
	struct instance *instance = server->instance;
	bool goes_on = false;

	mutex_lock(&server->mutex);
	down_read(&instance->rwsem);
	if (!state_has_processes(instance_state(instance))) {
		give_all_up(server);
	} else if (!list_empty(&server->clients)) {
		look_at_all(server, false);
		take_turns(server, since);
		goes_on = !*since || !looked_enough(server, ktime_get_ns() - *since) ||
			  look_at_all(server, true);
		act_as(server, NULL); /* the mutex keeps clients, and their credentials */
	}
	up_read(&instance->rwsem);
	mutex_unlock(&server->mutex);
	return goes_on;
}

static void publish_time(struct server *server)
{
	WRITE_ONCE(server->used, current->se.sum_exec_runtime);
}

/* A CPU that was off-line is back, or the cgroup has changed where the thread may run. */
static void go_home(const struct server *server)
{
	if (raw_smp_processor_id() != server->cpu && cpu_online(server->cpu))
		set_cpus_allowed_ptr(current, cpumask_of(server->cpu));
}

static void sleep(struct server *server)
{
	struct server_bell *bell = server->bell;

	publish_time(server);
	go_home(server);
	wait_event_idle(bell->wait, READ_ONCE(bell->rung) || kthread_should_stop());
}

static int run(void *argument)
{
	struct server *server = argument;
	u64 since = 0;

	if (confine_current(&server->instance->confinement))
		pr_warn("expected to put the server of job %u on CPU %u into the cgroups of its proxies, which failed: their limits do not bind it\n",
			server->instance->job_id, server->cpu);
	/* hurry() sends SIGKILL, which ends those waits in Linux that a signal can end. */
	allow_kernel_signal(SIGKILL);
	while (!kthread_should_stop()) {
		WRITE_ONCE(server->bell->rung, false);
		smp_mb(); /* the doorbell's interrupt comes after a packet, and sets 'rung' */
		if (!work(server, &since))
			sleep(server);
		if (signal_pending(current))
			flush_signals(current);
		cond_resched();
	}
	mutex_lock(&server->mutex);
	server->stopped = true;
	give_all_up(server);
	mutex_unlock(&server->mutex);
	publish_time(server);
	return 0;
}

/* Has the call end that the server makes, if it waits. */
static void hurry(struct server *server)
{
	mutex_lock(&server->instance->servers_mutex);
	if (server->task)
		send_sig(SIGKILL, server->task, 1);
	mutex_unlock(&server->instance->servers_mutex);
}

void server_add(struct server *server, struct server_client *client)
{
	atomic_inc(&server->wanted);
	mutex_lock(&server->mutex);
	atomic_dec(&server->wanted);
	client->with_server = !server->stopped;
	if (client->with_server) {
		list_add_tail(&client->link, &server->clients);
		count_client(server, 1); /* before the look, after which the LWK rings */
		/*
		 * A server that looks anyway finds the client; one that sleeps need not wake for
		 * nothing.
		 */
		if (client->look(client, true))
			instance_ring_server(server->bell);
	}
	mutex_unlock(&server->mutex);
}

void server_remove(struct server *server, struct server_client *client)
{
	if (!smp_load_acquire(&client->with_server))
		return;
	atomic_inc(&server->wanted);
	smp_mb__after_atomic();
	if (READ_ONCE(server->turn) % 2)
		hurry(server);
	mutex_lock(&server->mutex);
	atomic_dec(&server->wanted);
	if (client->with_server) {
		list_del(&client->link);
		count_client(server, -1);
	}
	client->with_server = false;
	mutex_unlock(&server->mutex);
}

void server_watch(struct server *server, unsigned int *turn)
{
	unsigned int now = READ_ONCE(server->turn);

	if (now % 2 && now == *turn)
		hurry(server);
	*turn = now;
}

/* The first LWK CPU with the same target has the server. */
static unsigned int server_index(const struct instance *instance, unsigned int cpu_index)
{
	unsigned int i = 0;

	while (instance->doorbells.target[i] != instance->doorbells.target[cpu_index])
		i++;
	return i;
}

static struct server *create(struct instance *instance, unsigned int index)
{
	struct server *server = kzalloc(sizeof(*server), GFP_KERNEL);

	if (!server)
		return NULL;
	server->instance = instance;
	server->cpu = instance->doorbells.target[index];
	server->bell = &instance->bells[index];
	mutex_init(&server->mutex);
	INIT_LIST_HEAD(&server->clients);
	server->task = kthread_create(run, server, "lwk%u/%u", instance->id, server->cpu);
	if (IS_ERR(server->task)) {
		kfree(server);
		return NULL;
	}
	instance_get(instance);
	set_cpus_allowed_ptr(server->task, cpumask_of(server->cpu));
	wake_up_process(server->task);
	return server;
}

struct server *server_get(struct instance *instance, unsigned int cpu_index)
{
	unsigned int index = server_index(instance, cpu_index);
	struct server *server = smp_load_acquire(&instance->servers[index]);

	if (server)
		return READ_ONCE(server->stopped) ? NULL : server;
	if (mutex_lock_killable(&instance->servers_mutex))
		return NULL;
	server = instance->servers[index];
	if (!server && state_has_processes(READ_ONCE(instance->state))) {
		server = create(instance, index);
		smp_store_release(&instance->servers[index], server);
	}
	mutex_unlock(&instance->servers_mutex);
	return server;
}

void servers_hurry(struct instance *instance)
{
	struct server *server;
	unsigned int i;

	for (i = 0; i < instance->n_cpus; i++) {
		server = smp_load_acquire(&instance->servers[i]);
		if (server)
			hurry(server);
	}
}

void servers_stop(struct instance *instance)
{
	struct server *server;
	unsigned int i;

	mutex_lock(&instance->servers_mutex);
	for (i = 0; i < instance->n_cpus; i++) {
		server = instance->servers[i];
		if (!server || !server->task)
			continue;
		kthread_stop(server->task);
		server->task = NULL;
		/* The last proxy may still look at the server; the instance frees it. */
		instance_put(instance);
	}
	mutex_unlock(&instance->servers_mutex);
}

u64 servers_take_time(struct instance *instance)
{
	struct server *server;
	unsigned int i;
	u64 used, taken, sum = 0;

	for (i = 0; i < instance->n_cpus; i++) {
		server = smp_load_acquire(&instance->servers[i]);
		if (!server)
			continue;
		taken = READ_ONCE(server->taken);
		used = READ_ONCE(server->used);
		/* Another caller that takes just now has all of it. */
		if (used > taken && cmpxchg(&server->taken, taken, used) == taken)
			sum += used - taken;
	}
	return sum;
}
