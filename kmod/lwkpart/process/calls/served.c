// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/calls/served.h"

#include <linux/moduleparam.h>
#include <linux/sched/signal.h>

#include "compat/compat.h"
#include "process/calls/requests.h"
#include "process/thread/channel.h"

static bool servers = true;
module_param(servers, bool, 0644);
MODULE_PARM_DESC(
	servers,
	"kernel threads read and write files for proxies that wait, where that needs no proxy (default: on)");

/*
 * After a packet that the server could not serve the proxy's thread waits for so many packets
 * itself: one after a long success, twice as many each time that the success was short.
 */
#define SUCCESS 16
#define MOST_ALONE 32U

/* Nobody else serves the channel meanwhile, so the packet stays the first one. */
static bool look(struct server_client *client, bool then_sleep)
{
	struct served *served = container_of(client, struct served, client);

	return channel_look(served->thread, then_sleep, 1) != MAIL_NONE;
}

/* Linux does more for a call of this task than the call itself. */
static bool has_more_to_do(struct task_struct *task)
{
	return compat_syscall_work(task) || READ_ONCE(task->ptrace) || signal_pending(task);
}

static bool serve_one(struct server_client *client)
{
	struct served *served = container_of(client, struct served, client);
	struct lwk_packet packet COMPAT_NOT_CLEARED;
	struct lwk_thread *thread = served->thread;
	s64 result;

	if (READ_ONCE(thread->process->instance->stopping) || !channel_peek(thread, &packet) ||
	    has_more_to_do(served->transfer.task))
		return false;
	result = request_make(thread, &served->transfer, &packet);
	if (result == NOT_DONE)
		return false;
	thread->by_server++;
	if (channel_answer(thread, packet.id, result))
		channel_ring_held(thread);
	return true;
}

static bool pays(struct lwk_thread *thread)
{
	if (!READ_ONCE(servers))
		return false;
	if (!thread->alone)
		return true;
	thread->alone--;
	return false;
}

bool served_begin(struct served *served, struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	const struct lwk_channel *channel = READ_ONCE(thread->channel);

	/* Without cgroups of the job's a server would be outside the limits of its proxies. */
	if (!channel || has_more_to_do(current) ||
	    !confinement_has_groups(&instance->confinement) || !pays(thread))
		return false;
	served->server = server_get(instance, thread->slot % instance->n_cpus);
	if (!served->server)
		return false;
	served->client = (struct server_client){ .wait = &instance->wait[thread->slot],
						 .requests = &channel->to_linux,
						 .cred = current_cred(),
						 .look = look,
						 .serve = serve_one };
	served->thread = thread;
	served->transfer = (struct transfer){ .task = current, .files = current->files };
	served->before = thread->by_server;
	served->turn = 0;
	server_add(served->server, &served->client);
	return true;
}

static bool is_back(const struct served *served)
{
	const struct lwk_thread *thread = served->thread;

	return !READ_ONCE(served->client.with_server) || !READ_ONCE(thread->channel) ||
	       !state_has_processes(READ_ONCE(thread->process->instance->state));
}

struct waiting {
	wait_queue_entry_t entry;
	const struct served *served;
};

/* A doorbell for the server does not wake the proxy's thread. */
static int wake_if_back(wait_queue_entry_t *entry, unsigned int mode, int flags, void *key)
{
	const struct waiting *waiting = container_of(entry, struct waiting, entry);

	return is_back(waiting->served) ? default_wake_function(entry, mode, flags, key) : 0;
}

long served_wait(struct served *served, long most)
{
	struct waiting waiting = { .served = served };
	wait_queue_head_t *wait = served->client.wait;

	init_waitqueue_func_entry(&waiting.entry, wake_if_back);
	waiting.entry.private = current;
	INIT_LIST_HEAD(&waiting.entry.entry);
	while (most > 0) {
		prepare_to_wait(wait, &waiting.entry, TASK_INTERRUPTIBLE);
		if (is_back(served))
			break;
		if (signal_pending(current)) {
			most = -ERESTARTSYS;
			break;
		}
		most = schedule_timeout(most);
	}
	finish_wait(wait, &waiting.entry);
	if (!most)
		server_watch(served->server, &served->turn);
	return most;
}

void served_end(struct served *served)
{
	struct lwk_thread *thread = served->thread;
	bool given_back = !READ_ONCE(served->client.with_server);

	server_remove(served->server, &served->client);
	if (!given_back)
		return;
	thread->alone = thread->by_server - served->before >= SUCCESS
				? 1
				: clamp(2 * thread->alone_last, 1U, MOST_ALONE);
	thread->alone_last = thread->alone;
}
