// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks after an instance while its CPUs run, from the CPU of Linux that gets its doorbells
 * and by reading shared memory only: the LWK's CPUs are never interrupted.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include <linux/cpumask.h>

#include "internal.h"

/* A panic must be seen within a second even when its doorbell is lost. */
#define WATCH_INTERVAL (HZ / 2)
#define CLOCK_INTERVAL HZ
/* Lines of console text that go to Linux's log at a time: an LWK must not flood it. */
#define LOG_LINES 20
#define LOG_LINE 240

static void queue(struct instance *instance, unsigned long delay)
{
	unsigned int cpu = instance->doorbell_cpu[0];

	/* The CPU may have gone off-line, or to an LWK, after it was chosen. */
	mod_delayed_work_on(cpu_online(cpu) ? cpu : WORK_CPU_UNBOUND, system_wq, &instance->watch,
			    delay);
}

void watch_soon(struct instance *instance)
{
	queue(instance, 0);
}

/*
 * A CPU with the same odd heartbeat for too long, or -1. Time in which nobody looked counts
 * little: a machine that stood still as a whole, by its hypervisor or its firmware, has
 * kept the LWK from a sign of life just as it has kept us from seeing one.
 */
static int find_hanging_cpu(struct instance *instance)
{
	unsigned long limit = msecs_to_jiffies(READ_ONCE(instance->hang_ms));
	unsigned long since = min_t(unsigned long, jiffies - instance->watched, 2 * WATCH_INTERVAL);
	unsigned int i;
	int hanging = -1;

	instance->watched = jiffies;
	for (i = 0; i < instance->n_slots; i++) {
		u64 beat = READ_ONCE(instance->status->cpu[i].heartbeat);

		if (beat != instance->health[i].beat) {
			instance->health[i].beat = beat;
			instance->health[i].silent = 0;
			continue;
		}
		instance->health[i].silent += since;
		if ((beat & 1) && instance->health[i].silent > limit)
			hanging = i % instance->n_cpus;
	}
	return hanging;
}

static void look_for_hang(struct instance *instance)
{
	char why[80];
	int index;

	index = find_hanging_cpu(instance);
	if (index < 0 || instance->state != LWK_STATE_RUNNING)
		return;
	scnprintf(why, sizeof(why), "its CPU %d (Linux's %u) shows no sign of life for %u s", index,
		  instance->cpus[index].linux_cpu, READ_ONCE(instance->hang_ms) / 1000);
	instance_hung(instance, why);
}

static void look_for_out_of_memory(struct instance *instance)
{
	u64 killed = 0;
	unsigned int i;

	for (i = 0; i < instance->n_slots; i++)
		killed += READ_ONCE(instance->status->cpu[i].out_of_memory);
	if (killed == instance->out_of_memory)
		return;
	instance->out_of_memory = killed;
	event_signal(instance, LWK_EVENT_OUT_OF_MEMORY);
}

static void announce_console(struct instance *instance)
{
	u64 head = READ_ONCE(instance->console->head);
	u64 from = max(READ_ONCE(instance->console_read), instance->console_announced);

	if (head < from || head - from <= LWK_CONSOLE_BYTES / 2)
		return;
	instance->console_announced = head;
	event_signal(instance, LWK_EVENT_CONSOLE);
}

static void log_console(struct instance *instance)
{
	char line[LOG_LINE];
	unsigned int lines;

	for (lines = 0; lines < LOG_LINES; lines++) {
		u64 position = instance->console_logged, head = READ_ONCE(instance->console->head);
		u32 length = console_read(instance, &position, line, sizeof(line) - 1);
		char *end;

		line[length] = 0;
		end = strchr(line, '\n');
		/* The rest of a line that is still being written comes next time. */
		if (!length || (!end && length < sizeof(line) - 1 && position >= head))
			return;
		if (end) {
			position -= length - (end + 1 - line);
			*end = 0;
		}
		instance->console_logged = position;
		pr_info("job %u: %s\n", instance->job_id, line);
	}
}

static void watch(struct work_struct *work)
{
	struct instance *instance = container_of(to_delayed_work(work), struct instance, watch);
	enum lwk_state state;

	instance_notice_panic(instance);
	/* Until watch_stop() has waited for us, the shared areas stay. */
	look_for_hang(instance);
	look_for_out_of_memory(instance);
	process_follow_proxies(instance);
	announce_console(instance);
	log_console(instance);
	state = READ_ONCE(instance->state);
	if (state != LWK_STATE_BOOTING && !state_has_processes(state))
		return;
	if (time_after_eq(jiffies, instance->clock_set + CLOCK_INTERVAL))
		clock_publish(instance);
	queue(instance, WATCH_INTERVAL);
}

void watch_init(struct instance *instance)
{
	INIT_DELAYED_WORK(&instance->watch, watch);
	instance->hang_ms = LWKPART_HANG_MS;
}

void watch_start(struct instance *instance)
{
	instance->watched = jiffies;
	queue(instance, WATCH_INTERVAL);
}

void watch_stop(struct instance *instance)
{
	cancel_delayed_work_sync(&instance->watch);
}
