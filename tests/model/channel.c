// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The delegation channel from end to end: one or two threads of an LWK on a CPU each make delegated
 * calls, which a proxy's thread that leads the server, or their own in the kernel, or the proxy answers.
 */
#include "abi/shared/grant.h"
#include "abi/shared/orders.h"
#include "instance/instance.h"
#include "instance/orders/doorbell.h"
#include "instance/orders/freeze.h"
#include "instance/state.h"
#include "lwk/lwk.h"
#include "lwkpart/linux.h"
#include "process/calls/calls.h"
#include "process/calls/requests.h"
#include "process/calls/serve.h"
#include "process/calls/served.h"
#include "process/memory/question.h"
#include "process/thread/channel.h"
#include "server/server.h"

/* The number of a call says who can make it. */
enum { BY_SERVER = 1, BY_KERNEL, BY_PROXY };

#define CPUS 2
#define FIRST_ID 0xfffffffeU

static struct world {
	struct linux_side linux_side;
	struct instance instance;
	struct lwk_process processes[CPUS];
	struct lwk_channel channels[2 * CPUS];
	struct lwk_control controls[2 * CPUS];
	struct lwk_grant grants[2 * CPUS];
	struct pid pids[CPUS];
	struct cred creds[CPUS]; /* of the proxies */
	u32 made[CPUS];		 /* calls */
	u32 progress;		 /* of LWK CPU 0 in user mode */
	u32 killed;		 /* proxies that have ended */
	u64 revoked;		 /* the page that the LWK has let go of last */
	u8 status[LWK_STATUS_BYTES(2 * CPUS)] __attribute__((aligned(64)));
} *world;
static struct lwk_boot_params params;
static unsigned int cpus, calls, serve_flags;
static unsigned int kinds[CPUS][2]; /* of a CPU's calls, one after the other */
/* The LWK's CPUs are the first threads, and this is the first proxy. */
static unsigned int n_threads, proxies;

/* ---- what the requests ask for ---- */

static s64 result_of(u64 argument)
{
	return 3 * argument + 1;
}

/* A call of the server's, in the thread that leads. */
s64 request_make(struct lwk_thread *thread, struct transfer *transfer,
		 const struct lwk_packet *packet)
{
	must(current_cred() == transfer->task->own_cred);
	return packet->nr == BY_SERVER ? result_of(packet->args[0]) : NOT_DONE;
}

/* A call in the proxy's context, as process/calls.c makes it. */
bool call_here(struct lwk_thread *thread, struct lwk_serve *serve)
{
	struct lwk_packet packet;

	if (!channel_peek(thread, &packet) || packet.nr == BY_PROXY)
		return false;
	if (channel_answer(thread, packet.id, result_of(packet.args[0])))
		channel_ring(thread);
	return true;
}

/* A call in user space, as lwkexec/instance/channel.c receives it and replies. */
static void call_in_proxy(struct lwk_thread *thread, struct lwk_channel *channel)
{
	u32 read = channel->to_linux.count, written = channel->to_lwk.count;
	const struct lwk_packet *next = &channel->to_linux.slot[read % LWK_RING_SLOTS];
	struct lwk_packet *reply = &channel->to_lwk.slot[written % LWK_RING_SLOTS], packet;

	if (__atomic_load_n(&next->turn, __ATOMIC_ACQUIRE) != (u16)(read + 1))
		return;
	packet = *next;
	__atomic_store_n(&channel->to_linux.count, read + 1, __ATOMIC_RELEASE);
	reply->kind = LWK_PACKET_REPLY;
	reply->id = packet.id;
	reply->args[0] = result_of(packet.args[0]);
	channel->to_lwk.count = written + 1;
	__atomic_store_n(&reply->turn, (u16)(written + 1), __ATOMIC_RELEASE);
	smp_mb();
	if (__atomic_load_n(&channel->lwk_sleeps, __ATOMIC_RELAXED))
		channel_ring(thread);
}

/* ---- threads ---- */

static void lwk_cpu(void *argument)
{
	unsigned int cpu = (unsigned long)argument, i;

	lwk_begin(cpu);
	for (i = 0; model_more(i, calls); i++)
		must(lwk_call(kinds[cpu][i % calls], 16 * cpu + i) == result_of(16 * cpu + i));
	world->made[cpu] = i;
}

/* Serves until that error, a signal or the instance's end. */
static void serve_until(long last, unsigned long number)
{
	struct lwk_thread *thread = &world->processes[number].first;
	struct lwk_serve arg;
	long error;

	do {
		arg.flags = serve_flags;
		error = serve(thread, &arg);
		must(current_cred() == current->own_cred);
		if (error == -EINTR && last != -EINTR)
			flush_signals(current);
		if (!error)
			call_in_proxy(thread, &world->channels[cpus + number]);
	} while (error != last);
}

static void proxy(void *argument)
{
	serve_until(-EIO, (unsigned long)argument);
}

static void proxy_to_kill(void *argument)
{
	serve_until(-EINTR, (unsigned long)argument);
	__atomic_fetch_add(&world->killed, 1, __ATOMIC_SEQ_CST);
}

/* Sends the proxy a signal at any time. */
static void signals(void *argument)
{
	send_sig(SIGKILL, &linux_side->tasks[proxies], 1);
}

/*
 * Keeps rwsem until the proxies that it kills have ended, as a task that waits for the LWK keeps it
 * for up to a minute.
 */
static void kills(void *argument)
{
	down_write(&world->instance.rwsem);
	for (unsigned int i = 0; i < cpus; i++)
		send_sig(SIGKILL, &linux_side->tasks[proxies + i], 1);
	model_take(&world->killed, ~0U, cpus, ~0U, 0);
	up_write(&world->instance.rwsem);
}

/* Ends the instance, as boot.c does. */
static void stops(void *argument)
{
	struct instance *instance = &world->instance;

	WRITE_ONCE(instance->stopping, true);
	down_write(&instance->rwsem);
	instance_set_state(instance, LWK_STATE_SHUTDOWN);
	up_write(&instance->rwsem);
	instance_wake_proxies(instance);
	for (unsigned int i = 0; i < cpus; i++)
		channel_forget(&world->processes[i].first);
	instance_wake_proxies(instance);
}

/* Makes calls, and goes on in user mode afterwards. */
static void lwk_cpu_that_goes_on(void *argument)
{
	lwk_begin(0);
	for (unsigned int i = 0; i < calls; i++) {
		lwk_user_mode();
		WRITE_ONCE(world->progress, world->progress + 1);
		must(lwk_call(kinds[0][i], i) == result_of(i));
		world->made[0] = i + 1;
	}
	for (;;) {
		lwk_interrupted();
		lwk_user_mode();
	}
}

/* Has the LWK's processes stand still, and go on. */
static void freezes(void *argument)
{
	struct lwk_freeze request = { .frozen = 1, .timeout_ms = 1000 };
	u32 progress;

	must(freeze_instance(&world->instance, &request) == 0);
	must(world->instance.state == LWK_STATE_FROZEN);
	progress = READ_ONCE(world->progress);
	must(READ_ONCE(world->progress) == progress);
	request.frozen = 0;
	must(freeze_instance(&world->instance, &request) == 0);
}

/* Computes, and answers what it is asked meanwhile. */
static void lwk_cpu_that_answers(void *argument)
{
	lwk_begin(0);
	for (;;) {
		lwk_interrupted();
		lwk_user_mode();
	}
}

void lwk_revokes(u64 addr)
{
	WRITE_ONCE(world->revoked, addr);
}

#define PAGE 4096
#define TOUCHED 0x10000UL
#define WANTED_BACK 0x20000UL

/* Asks for a page, and then wants another one back; neither waits for ever. */
static void asks(void *argument)
{
	struct lwk_thread *thread = &world->processes[0].first;
	u32 state;

	question_put(thread, LWK_FAULT_WRITE, TOUCHED, PAGE, false);
	state = question_put(thread, LWK_FAULT_REVOKE, WANTED_BACK, PAGE, false);
	must(state == LWK_FAULT_ASKED ||
	     (state == LWK_FAULT_READY && READ_ONCE(world->revoked) == WANTED_BACK));
}

/* ---- other files of the module ---- */

void instance_set_state(struct instance *instance, enum lwk_state state)
{
	WRITE_ONCE(instance->state, state);
}

enum lwk_state instance_state(struct instance *instance)
{
	return READ_ONCE(instance->state);
}

void confinement_release(struct confinement *confinement)
{
}

void charge_proxy(struct instance *instance, unsigned int slot, struct charge *charge)
{
}

/* ---- the world ---- */

static void name_channel(struct lwk_channel *channel, unsigned int index)
{
	static const struct {
		const char *name[CPUS];
		size_t at, size;
	} parts[] = {
#define PART(member)                                                                               \
	{ { "channel 0 " #member, "channel 1 " #member },                                          \
	  offsetof(struct lwk_channel, member),                                                    \
	  sizeof(channel->member) }
		PART(to_linux.count), PART(to_linux.slot), PART(to_lwk.count),
		PART(to_lwk.slot),    PART(lwk_sleeps),	   PART(linux_sleeps),
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		model_name((u8 *)channel + parts[i].at, parts[i].size, parts[i].name[index]);
}

static void make_world(unsigned int n, unsigned int flags)
{
	struct instance *instance;
	u32 first = FIRST_ID;

	cpus = n;
	serve_flags = flags;
	world = model_alloc(sizeof(*world), 4096);
	linux_side = &world->linux_side;
	instance = &world->instance;
	model_name(world, sizeof(*world), "world");
	model_name(instance, sizeof(*instance), "instance");
	model_name(&instance->servers[0], sizeof(instance->servers[0]), "server");
	model_name(&instance->servers[0].led, 1, "server led");
	model_name(&instance->servers[0].mutex, sizeof(instance->servers[0].mutex), "server mutex");
	model_name(&linux_side->irq.pending, 4, "Linux pending");
	params = (struct lwk_boot_params){
		.n_cpus = n, .n_slots = 2 * n, .x2apic = 1, .tsc_khz = 2000000
	};
	*instance = (struct instance){ .state = LWK_STATE_RUNNING,
				       .kref = { 1 },
				       .n_cpus = n,
				       .n_slots = 2 * n,
				       .params = &params,
				       .status = (struct lwk_status *)world->status,
				       .channels = world->channels,
				       .controls = world->controls,
				       .grants = world->grants };
	for (unsigned int i = 0; i < n; i++) {
		params.cpus[i].apicid = instance->cpus[i].apicid = i;
		server_init(&instance->servers[i], instance);
	}
	for (unsigned int i = 0; i < 2 * n; i++)
		init_waitqueue_head(&instance->wait[i]);
	must(doorbell_connect(instance) == 0);
	for (unsigned int i = 0; i < n; i++) {
		struct lwk_process *process = &world->processes[i];
		struct lwk_channel *channel = &world->channels[n + i];

		name_channel(channel, i);
		*process = (struct lwk_process){
			.instance = instance,
			.proxy = &world->pids[i],
			.first = { .process = process,
				   .slot = n + i,
				   .channel = channel,
				   .next_charge = 1000 },
		};
		instance->threads[n + i] = &process->first;
		instance->slots_end = n + i + 1;
		model_name(process, sizeof(*process), "process");
		/* No scenario has anybody who hides memory. */
		model_ignore(&process->shown, sizeof(process->shown));
		for (unsigned int j = 0; j < LWK_RING_SLOTS; j++) {
			model_whole(&channel->to_linux.slot[j], sizeof(struct lwk_packet));
			model_whole(&channel->to_lwk.slot[j], sizeof(struct lwk_packet));
			/* No packet has come so far. */
			channel->to_linux.slot[j].turn = channel->to_lwk.slot[j].turn = first;
		}
		/* The counts wrap. */
		channel->to_linux.count = channel->to_lwk.count = first;
	}
	lwk_prepare(n, &params, instance->status, world->channels, world->controls);
	lwk_count_from(first);
}

static void add_thread(const char *name, void (*run)(void *), unsigned long argument, bool service)
{
	model_name(&linux_side->tasks[n_threads++], sizeof(struct task_struct), name);
	model_thread(name, run, (void *)argument, service);
}

static void add_lwk(void (*run)(void *argument), bool service)
{
	static const char *const names[CPUS] = { "LWK CPU 0", "LWK CPU 1" };

	for (unsigned int i = 0; i < cpus; i++)
		add_thread(names[i], run, i, service);
}

static void add_proxies(void (*run)(void *argument), bool service)
{
	static const char *const names[CPUS] = { "proxy 0", "proxy 1" };

	add_thread("interrupt", linux_interrupts, 0, true);
	proxies = n_threads;
	for (unsigned int i = 0; i < cpus; i++) {
		struct task_struct *task = &linux_side->tasks[n_threads];

		task->tgid = &world->pids[i];
		task->cred = task->own_cred = &world->creds[i];
		add_thread(names[i], run, i, service);
	}
}

static void add_linux(bool service)
{
	add_proxies(proxy, service);
}

/* In the beginning the proxies have left their channels to the server, which has no leader. */
static void begin_served(void)
{
	for (unsigned int i = 0; i < cpus; i++)
		model_first(proxies + i);
}

/* Each call has been taken once and answered once. */
static void all_answered(void)
{
	for (unsigned int i = 0; i < cpus; i++) {
		const struct lwk_channel *channel = &world->channels[cpus + i];

		must(world->made[i]);
		must(channel->to_linux.count == FIRST_ID + world->made[i]);
		must(channel->to_lwk.count == FIRST_ID + world->made[i]);
	}
}

/* No proxy leads, and none has a client. */
static void all_stopped(void)
{
	must(!world->instance.servers[0].led);
	must(list_empty(&world->instance.servers[0].clients));
	must(!world->instance.rwsem.count);
}

static void all_thawed(void)
{
	all_answered();
	must(world->instance.state == LWK_STATE_RUNNING);
}

/* Each CPU makes these calls, one after the other; 0: no more. */
static void make_calls(unsigned int first, unsigned int second)
{
	calls = second ? 2 : 1;
	for (unsigned int i = 0; i < CPUS; i++) {
		kinds[i][0] = first;
		kinds[i][1] = second;
	}
}

/* No thread changes the instance's state. */
static void always_runs(void)
{
	model_ignore(&world->instance.rwsem, sizeof(world->instance.rwsem));
}

static void by_proxy(void)
{
	make_world(1, 0);
	make_calls(BY_PROXY, BY_PROXY);
	always_runs();
	add_lwk(lwk_cpu, false);
	add_linux(true);
}

static void by_kernel(void)
{
	make_world(1, LWK_SERVE_CALLS);
	make_calls(BY_KERNEL, BY_PROXY);
	always_runs();
	add_lwk(lwk_cpu, false);
	add_linux(true);
}

/* Served ones. */
static void make_served(unsigned int n, unsigned int first, unsigned int second)
{
	make_world(n, LWK_SERVE_CALLS | LWK_SERVE_BY_SERVER);
	make_calls(first, second);
	always_runs();
	add_lwk(lwk_cpu, false);
	add_linux(true);
}

static void by_server(void)
{
	make_served(1, BY_SERVER, BY_PROXY);
}

static void one_by_server(void)
{
	make_served(1, BY_SERVER, 0);
	begin_served();
}

static void two_by_server(void)
{
	make_served(2, BY_SERVER, 0);
	begin_served();
}

static void handed_back(void)
{
	make_served(2, BY_SERVER, 0);
	kinds[1][0] = BY_PROXY;
	begin_served();
}

static void taken_back(void)
{
	make_served(2, BY_SERVER, 0);
	add_thread("who signals", signals, 0, false);
	begin_served();
}

static void stopped(void)
{
	make_world(2, LWK_SERVE_CALLS | LWK_SERVE_BY_SERVER);
	make_calls(BY_SERVER, 0);
	add_lwk(lwk_cpu, true);
	add_linux(false);
	add_thread("who stops", stops, 0, false);
	begin_served();
}

static void killed(void)
{
	make_world(2, LWK_SERVE_CALLS | LWK_SERVE_BY_SERVER);
	make_calls(BY_SERVER, 0);
	/* The other CPU of the LWK asks for nothing. */
	add_thread("LWK CPU 0", lwk_cpu, 0, true);
	add_proxies(proxy_to_kill, false);
	add_thread("who kills", kills, 0, false);
	begin_served();
}

static void frozen(void)
{
	make_world(1, 0);
	make_calls(BY_PROXY, 0);
	add_lwk(lwk_cpu_that_goes_on, true);
	add_linux(true);
	add_thread("who freezes", freezes, 0, false);
}

static void late_answer(void)
{
	make_world(1, 0);
	always_runs();
	add_lwk(lwk_cpu_that_answers, true);
	add_thread("interrupt", linux_interrupts, 0, true);
	add_thread("who asks", asks, 0, false);
}

const struct scenario scenarios[] = {
	{ "by-proxy", "calls that the proxy makes in user space", 0, by_proxy, all_answered },
	{ "by-kernel", "a call in the proxy's context, and one in user space", 0, by_kernel,
	  all_answered },
	{ "by-server", "a call by its own proxy's thread that leads, and one that it hands back", 4,
	  by_server, all_answered },
	{ "one-by-server", "one proxy's thread, which leads when it is asked", 0, one_by_server,
	  all_answered },
	{ "two-by-server", "two proxies' threads, of which one leads", 1, two_by_server,
	  all_answered },
	{ "handed-back", "the same, and one call is its own proxy's", 1, handed_back,
	  all_answered },
	{ "taken-back", "a signal for a proxy that leads, or that another one serves", 1,
	  taken_back, all_answered },
	{ "stopped", "the instance ends while a proxy leads", 1, stopped, all_stopped },
	{ "killed", "proxies are killed while somebody keeps the instance's state as it is", 1,
	  killed, all_stopped },
	{ "frozen", "the program stands still, and goes on", 2, frozen, all_thawed },
	{ "late-answer", "a question to the LWK that is given up, and another one", 0, late_answer,
	  NULL },
	{ NULL },
};
