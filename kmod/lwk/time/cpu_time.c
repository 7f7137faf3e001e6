/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/time/cpu_time.h"

#include <linux/time.h>

#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/process/slot.h"
#include "lwk/time/clock.h"

/* Another CPU ends a change of its times within a few cycles, unless it panics meanwhile. */
#define TRIES 1000

/* Returns the cycles that the slot has spent since the LWK has booted. */
static struct cpu_time spent(const struct slot *slot)
{
	const struct lwk_cpu_times *times = &slot->status->times;
	struct cpu_time all = { 0, 0 };
	u64 now, since;
	u32 seq, state;

	for (unsigned int i = 0; i < TRIES; i++) {
		seq = LOAD_ACQUIRE(times->seq);
		state = READ_ONCE(times->state);
		since = READ_ONCE(times->since_tsc);
		all.user = READ_ONCE(times->tsc[LWK_CPU_USER]);
		all.system = READ_ONCE(times->tsc[LWK_CPU_SYSTEM]);
		now = rdtsc();
		/* LWK_TIME_STANDS, during the turns of other slots, is later than any time. */
		if (now > since && state == LWK_CPU_USER)
			all.user += now - since;
		if (now > since && state == LWK_CPU_SYSTEM)
			all.system += now - since;
		compiler_barrier();
		if (!(seq & 1) && READ_ONCE(times->seq) == seq)
			break;
	}
	return all;
}

static void add_thread(struct cpu_time *sum, const struct slot *slot)
{
	struct cpu_time all = spent(slot);

	sum->user += all.user - slot->began.user;
	sum->system += all.system - slot->began.system;
}

void cpu_time_begin(struct slot *slot)
{
	spin_lock(&slot->process->time_lock);
	slot->began = spent(slot);
	slot->running = true;
	spin_unlock(&slot->process->time_lock);
}

void cpu_time_end(struct slot *slot)
{
	spin_lock(&slot->process->time_lock);
	add_thread(&slot->process->past_time, slot);
	slot->running = false;
	spin_unlock(&slot->process->time_lock);
}

/* Returns the next slot from 'index' on that has a thread of this process, or NULL. */
static const struct slot *next_thread(u32 index)
{
	const struct process *process = this_process();
	const struct slot *slot;

	if (READ_ONCE(process->n_slots) == 1)
		return index <= this_slot()->index ? this_slot() : NULL;
	for (; index < boot->n_slots; index++) {
		slot = slot_at(index);
		if (LOAD_ACQUIRE(slot->process) == process && READ_ONCE(slot->running))
			return slot;
	}
	return NULL;
}

struct cpu_time cpu_time_cycles(void)
{
	struct process *process = this_process();
	const struct slot *slot;
	struct cpu_time sum;

	spin_lock(&process->time_lock);
	sum = process->past_time;
	for (u32 i = 0; (slot = next_thread(i)); i = slot->index + 1)
		add_thread(&sum, slot);
	spin_unlock(&process->time_lock);
	return sum;
}

bool cpu_time_read(u32 tid, struct cpu_time *time)
{
	const struct slot *slot = this_slot();
	struct cpu_time sum = { 0, 0 };

	if (!tid) {
		sum = cpu_time_cycles();
	} else {
		if (tid != slot->thread.tid)
			for (u32 i = 0; (slot = next_thread(i)) && slot->thread.tid != tid;)
				i = slot->index + 1;
		if (!slot)
			return false;
		add_thread(&sum, slot);
	}
	*time = (struct cpu_time){ clock_cycles_to_ns(sum.user), clock_cycles_to_ns(sum.system) };
	return true;
}

u32 cpu_time_users(void)
{
	const struct slot *slot;
	u32 n = 0;

	for (u32 i = 0; (slot = next_thread(i)); i = slot->index + 1) {
		const struct cpu *cpu = LOAD_ACQUIRE(slot->cpu);

		n += cpu && LOAD_ACQUIRE(cpu->current) == slot;
	}
	return n;
}

/* The low bits of a clock's negative id; the others are the complement of a pid or tid, 0: own. */
#define PART 3
#define OF_THREAD 4
#define NUMBER_SHIFT 3
/* The part of a clock that does not show CPU time. */
#define PART_NONE 3

bool cpu_clock_is(s32 id)
{
	return id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID ||
	       (id < 0 && (id & PART) != PART_NONE);
}

bool cpu_clock_find(s32 id, struct cpu_clock *clock)
{
	u32 number = id < 0 ? ~(id >> NUMBER_SHIFT) : 0;
	bool of_thread = id < 0 ? id & OF_THREAD : id == CLOCK_THREAD_CPUTIME_ID;
	u64 ns;

	*clock = (struct cpu_clock){ .part = id < 0 ? id & PART : 0 };
	if (of_thread)
		clock->tid = number ? number : this_thread()->tid;
	else if (number && number != this_process()->pid)
		return false;
	return cpu_clock_is(id) && cpu_clock_read(clock, &ns);
}

bool cpu_clock_read(const struct cpu_clock *clock, u64 *ns)
{
	struct cpu_time time;

	if (!cpu_time_read(clock->tid, &time))
		return false;
	*ns = clock->part == 1 ? time.user : time.user + time.system;
	return true;
}
