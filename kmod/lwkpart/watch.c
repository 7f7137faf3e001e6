// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watches an instance while its CPUs run: notices panics and hangs and has the programs end then,
 * sends events, copies console text to Linux's log, and sets the LWK's clock. The watch runs on the
 * Linux CPU that gets the first doorbells, and reads shared memory only: it interrupts no LWK CPU
 * that shows signs of life.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "watch.h"

#include <linux/delay.h>
#include <linux/ktime.h>

#include "abi/device/watch.h"
#include "abi/shared/console.h"
#include "instance/orders/doorbell.h"
#include "instance/state.h"
#include "instance/watch/console.h"
#include "lending/cpu.h"
#include "process/follow.h"
#include "process/rouse.h"

/* A panic must be noticed within a second, even when its doorbell is lost. */
#define WATCH_INTERVAL (HZ / 2)
#define CLOCK_INTERVAL HZ
/*
 * Lines of console text that are looked at together, and lines that may go to Linux's log in each
 * LOG_INTERVAL: programs make an LWK print, and must not flood the log. The console has all lines.
 */
#define LOOK_LINES 200
#define LOG_LINES 60
#define LOG_INTERVAL (10 * HZ)
#define LOG_LINE 240

/*
 * A CPU that its hypervisor hardly runs, because the host is busy, looks as one that hangs. So it
 * is asked by an NMI in each look: one that hangs in the LWK's kernel answers at once. Without an
 * answer the time counts less.
 */
#define ANSWER_MS 5
#define UNANSWERED 6

/*
 * Asks a CPU of the LWK by an NMI. Linux looks at its own clock, too: when the answer comes late
 * because this CPU did not run, the hypervisor was busy, and the time tells nothing of the LWK.
 */
static bool answers_at_once(const struct instance *instance, unsigned int cpu)
{
	const u32 *nmis = &instance->status->cpu[cpu].nmis;
	u64 start = ktime_get_ns(), limit = ANSWER_MS * NSEC_PER_MSEC;
	u32 before = READ_ONCE(*nmis);

	cpu_nmi(instance->cpus[cpu].linux_cpu);
	while (READ_ONCE(*nmis) == before && ktime_get_ns() - start < limit)
		usleep_range(50, 200);
	return READ_ONCE(*nmis) != before && ktime_get_ns() - start < 2 * limit;
}

/*
 * Returns a CPU whose heartbeat has had the same odd value for too long, or -1. At most twice the
 * interval of the watch counts between two looks: a hypervisor or firmware that stopped the whole
 * machine has stopped the LWK as well as the watch.
 */
static int find_hanging_cpu(struct instance *instance)
{
	unsigned long limit = msecs_to_jiffies(READ_ONCE(instance->watch.hang_ms));
	unsigned long since =
		min_t(unsigned long, jiffies - instance->watch.looked, 2 * WATCH_INTERVAL);
	unsigned int i, cpu;
	int hanging = -1;

	instance->watch.looked = jiffies;
	for (i = 0; i < instance->n_slots; i++) {
		u64 beat = READ_ONCE(instance->status->cpu[i].heartbeat);

		if (beat != instance->watch.health[i].beat || !(beat & 1)) {
			instance->watch.health[i].beat = beat;
			instance->watch.health[i].silent = 0;
			continue;
		}
		cpu = doorbell_cpu(instance, i);
		instance->watch.health[i].silent +=
			answers_at_once(instance, cpu) ? since : since / UNANSWERED;
		if (instance->watch.health[i].silent > limit)
			hanging = cpu;
	}
	return hanging;
}

static void look_for_hang(struct instance *instance)
{
	char why[80];
	int index;

	if (READ_ONCE(instance->state) != LWK_STATE_RUNNING)
		return;
	index = find_hanging_cpu(instance);
	if (index < 0)
		return;
	scnprintf(why, sizeof(why), "its CPU %d (Linux's %u) shows no sign of life for %u s", index,
		  instance->cpus[index].linux_cpu, READ_ONCE(instance->watch.hang_ms) / 1000);
	instance_declare_hung(instance, why);
}

static void look_for_out_of_memory(struct instance *instance)
{
	u64 killed = 0;
	unsigned int i;

	/* A free slot's count is in that of a CPU's own slot. */
	for (i = 0; i < instance->n_slots; i++)
		if (i < instance->n_cpus || READ_ONCE(instance->status->cpu[i].home))
			killed += READ_ONCE(instance->status->cpu[i].out_of_memory);
	if (killed == instance->watch.out_of_memory)
		return;
	instance->watch.out_of_memory = killed;
	event_signal(&instance->events, LWK_EVENT_OUT_OF_MEMORY);
}

static void announce_console(struct instance *instance)
{
	u64 head = READ_ONCE(instance->console->head);
	u64 from = max(READ_ONCE(instance->console_at.read), instance->console_at.announced);

	if (head < from || head - from <= LWK_CONSOLE_BYTES / 2)
		return;
	instance->console_at.announced = head;
	event_signal(&instance->events, LWK_EVENT_CONSOLE);
}

static void tell_left_out(struct instance *instance)
{
	if (instance->console_at.left_out)
		pr_info("job %u: %u lines of the console are left out here; lwkctl kmsg %u prints them\n",
			instance->job_id, instance->console_at.left_out, instance->job_id);
	instance->console_at.left_out = 0;
}

static void log_line(struct instance *instance, const char *line)
{
	if (instance->console_at.log_lines < LOG_LINES) {
		instance->console_at.log_lines++;
		pr_info("job %u: %s\n", instance->job_id, line);
	} else {
		instance->console_at.left_out++;
	}
}

static void log_console(struct instance *instance)
{
	char line[LOG_LINE];
	unsigned int lines;

	if (time_after(jiffies, instance->console_at.log_since + LOG_INTERVAL)) {
		tell_left_out(instance);
		instance->console_at.log_since = jiffies;
		instance->console_at.log_lines = 0;
	}
	for (lines = 0; lines < LOOK_LINES; lines++) {
		u64 position = instance->console_at.logged,
		    head = READ_ONCE(instance->console->head);
		u32 length = console_read(instance, &position, line, sizeof(line) - 1);
		char *end;

		line[length] = 0;
		end = strchr(line, '\n');
		/* A line that is still being written waits for the next look. */
		if (!length || (!end && length < sizeof(line) - 1 && position >= head))
			return;
		if (end) {
			position -= length - (end + 1 - line);
			*end = 0;
		}
		instance->console_at.logged = position;
		log_line(instance, line);
	}
}

/* Has the proxies of an LWK that is dead end, and looks again as long as there are some. */
static void end_processes(struct instance *instance)
{
	if (!READ_ONCE(instance->n_processes))
		return;
	rouse_proxies(instance);
	instance_wake_watch(instance, WATCH_INTERVAL);
}

static void watch(struct work_struct *work)
{
	struct instance *instance =
		container_of(to_delayed_work(work), struct instance, watch.work);
	enum lwk_state state;

	instance_notice_panic(instance);
	/* The shared areas exist until watch_stop() has waited for the end of this function. */
	look_for_hang(instance);
	look_for_out_of_memory(instance);
	follow_proxies(instance);
	announce_console(instance);
	log_console(instance);
	state = READ_ONCE(instance->state);
	if (state == LWK_STATE_PANIC || state == LWK_STATE_HUNG)
		end_processes(instance);
	if (state != LWK_STATE_BOOTING && !state_has_processes(state))
		return;
	if (time_after_eq(jiffies, instance->clock_published.when + CLOCK_INTERVAL))
		clock_publish(instance->clock, &instance->clock_published);
	instance_wake_watch(instance, WATCH_INTERVAL);
}

void watch_init(struct instance *instance)
{
	INIT_DELAYED_WORK(&instance->watch.work, watch);
	instance->watch.hang_ms = LWKPART_HANG_MS;
}

void watch_start(struct instance *instance)
{
	instance->watch.looked = jiffies;
	instance->console_at.log_since = jiffies;
	instance_wake_watch(instance, WATCH_INTERVAL);
}

void watch_stop(struct instance *instance)
{
	cancel_delayed_work_sync(&instance->watch.work);
	tell_left_out(instance);
}
