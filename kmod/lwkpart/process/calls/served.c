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
	"a proxy that waits reads and writes files for others that wait, where that needs no proxy (default: on)");

/*
 * To hand a packet back costs a switch between tasks more than if no server had the channel, and to
 * make a call saves two. A proxy's thread whose calls are mostly handed back for a while, longer
 * than a program takes to start, waits for so many packets itself, then tries once more.
 */
#define GAIN 2U
#define MOST_DEBT 64U
#define ALONE 32U

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

/* With 'shown' held. */
static bool serve_shown(struct served *served)
{
	struct lwk_thread *thread = served->thread;
	struct lwk_channel *channel = READ_ONCE(thread->channel);
	struct lwk_packet *packet = &served->packet;
	s64 result;

	if (!channel || !channel_first(channel, packet))
		return false;
	result = request_make(thread, &served->transfer, packet);
	if (result == NOT_DONE)
		return false;
	thread->by_server++;
	if (channel_reply(channel, packet->id, result))
		channel_ring_held(thread);
	return true;
}

static bool serve_one(struct server_client *client)
{
	struct served *served = container_of(client, struct served, client);
	struct lwk_process *process = served->thread->process;
	bool done;

	/*
	 * The lock keeps the channel the thread's, and the memory what it is. A task that holds the
	 * lock for writing is about to take both away.
	 */
	if (READ_ONCE(process->instance->stopping) || has_more_to_do(served->transfer.task) ||
	    !down_read_trylock(&process->shown))
		return false;
	done = serve_shown(served);
	up_read(&process->shown);
	return done;
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

	if (!channel || has_more_to_do(current) || !pays(thread))
		return false;
	served->server = server_of(instance, thread->slot % instance->n_cpus);
	served->client = (struct server_client){ .wait = &instance->wait[thread->slot],
						 .requests = &channel->to_linux,
						 .cred = current_cred(),
						 .look = look,
						 .serve = serve_one };
	served->thread = thread;
	served->transfer = (struct transfer){ .task = current, .files = current->files };
	served->before = thread->by_server;
	return server_add(served->server, &served->client);
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

/* A doorbell wakes the thread to lead, unless another one leads, which looks anyway. */
static int wake_if_needed(wait_queue_entry_t *entry, unsigned int mode, int flags, void *key)
{
	const struct waiting *waiting = container_of(entry, struct waiting, entry);
	const struct served *served = waiting->served;

	if (!is_back(served) && (key != INSTANCE_MAIL || server_is_led(served->server)))
		return 0;
	return default_wake_function(entry, mode, flags, key);
}

/* Sleeps until the thread has its channel back, or has to lead or to leave, at most until then. */
static void sleep(struct served *served, unsigned long until)
{
	struct waiting waiting = { .served = served };
	wait_queue_head_t *wait = served->client.wait;
	long left;

	init_waitqueue_func_entry(&waiting.entry, wake_if_needed);
	waiting.entry.private = current;
	INIT_LIST_HEAD(&waiting.entry.entry);
	for (;;) {
		prepare_to_wait(wait, &waiting.entry, TASK_INTERRUPTIBLE);
		left = until - jiffies;
		if (left <= 0 || is_back(served) || server_must_leave() ||
		    (!server_is_led(served->server) && look(&served->client, true)))
			break;
		schedule_timeout(left);
	}
	finish_wait(wait, &waiting.entry);
}

long served_wait(struct served *served, unsigned long most)
{
	unsigned long until = jiffies + most;

	while (!is_back(served)) {
		if (server_must_leave())
			return -ERESTARTSYS;
		if (time_after_eq(jiffies, until))
			return 0;
		if (!server_is_led(served->server))
			server_lead(served->server, &served->client, until);
		sleep(served, until);
	}
	return 1;
}

void served_end(struct served *served)
{
	struct lwk_thread *thread = served->thread;
	bool given_back = !READ_ONCE(served->client.with_server);
	u64 gain;

	server_remove(served->server, &served->client);
	gain = GAIN * (thread->by_server - served->before);
	thread->debt -= min_t(u64, gain, thread->debt);
	if (!given_back)
		return;
	if (thread->debt < MOST_DEBT)
		thread->debt++;
	else
		thread->alone = ALONE;
}
