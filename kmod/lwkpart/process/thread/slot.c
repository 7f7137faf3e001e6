// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds free slots of an instance, and orders the LWK to run a thread in a slot or to let it go.
 */
#include "process/thread/slot.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "abi/device/device.h"
#include "abi/shared/channel.h"
#include "abi/shared/grant.h"
#include "abi/shared/orders.h"
#include "instance/orders/doorbell.h"
#include "process/thread/channel.h"

/*
 * The time that a slot gets to obey an order without a sign of life of its CPU, and with such
 * signs.
 */
#define OBEY_TIMEOUT (5 * HZ)
#define WORK_TIMEOUT (60 * HZ)
/* Looks between two rings of the doorbell. */
#define LOOKS 100

/* True when the slot has carried out the order. */
static bool obeyed(struct instance *instance, unsigned int slot, u32 order)
{
	return smp_load_acquire(&instance->controls[slot].obeyed) == order;
}

static void send_order(struct instance *instance, unsigned int slot, u32 order)
{
	smp_store_release(&instance->controls[slot].order, order);
	doorbell_ring(instance, slot);
}

/* Sends an order to a free slot, which 'cpu' shall run. */
static void send_first_order(struct instance *instance, unsigned int slot, u32 order,
			     unsigned int cpu)
{
	WRITE_ONCE(instance->controls[slot].cpu, cpu);
	WRITE_ONCE(instance->controls[cpu].newcomer, slot);
	send_order(instance, slot, order);
}

/* Changes as long as the CPU of the slot shows signs of life. */
static u64 heartbeats(const struct instance *instance, unsigned int slot)
{
	unsigned int cpu = doorbell_cpu(instance, slot), i;
	u64 sum = 0;

	for (i = 0; i < instance->n_slots; i++)
		if (doorbell_cpu(instance, i) == cpu)
			sum += READ_ONCE(instance->status->cpu[i].heartbeat);
	return sum;
}

/*
 * Waits for a slot to obey. One whose CPU works has more time, because the LWK may have much to
 * copy or to free. An instance that is to be stopped needs nobody's obedience.
 */
static bool await_obedience(struct instance *instance, unsigned int slot, u32 order)
{
	unsigned long last = jiffies + WORK_TIMEOUT, deadline = jiffies + OBEY_TIMEOUT;
	u64 before = heartbeats(instance, slot), now;
	unsigned int looks = 0;

	while (!obeyed(instance, slot, order) && serves(instance) &&
	       !READ_ONCE(instance->stopping) && time_before(jiffies, deadline)) {
		if (++looks % LOOKS == 0) {
			now = heartbeats(instance, slot);
			if (now != before)
				deadline = min(jiffies + OBEY_TIMEOUT, last);
			/* The interrupt that this causes is no sign of life. */
			doorbell_ring(instance, slot);
			before = now;
		}
		usleep_range(20, 100);
	}
	return obeyed(instance, slot, order);
}

/* A thread adds this to the load of its CPU: one that is ready more than one that waits. */
#define WEIGHT_READY 3
#define WEIGHT_WAITING 1

static unsigned int weight_of(const struct instance *instance, unsigned int slot)
{
	switch (READ_ONCE(instance->status->cpu[slot].times.state)) {
	case LWK_CPU_USER:
	case LWK_CPU_SYSTEM:
		return WEIGHT_READY;
	default:
		return WEIGHT_WAITING;
	}
}

/* The weight of the threads of each CPU. */
struct weights {
	u16 of[LWK_MAX_CPUS];
};

/*
 * Adds up the weights of all threads; only of those of one process, if that is not NULL. A large
 * instance has thousands of slots, so each is looked at once.
 */
static void weigh(const struct instance *instance, const struct lwk_process *process,
		  struct weights *weights)
{
	unsigned int slot;

	memset(weights, 0, sizeof(*weights));
	for (slot = instance->n_cpus; slot < instance->n_slots; slot++) {
		const struct lwk_thread *thread = instance->threads[slot];

		if (thread && (!process || thread->process == process))
			weights->of[doorbell_cpu(instance, slot)] += weight_of(instance, slot);
	}
}

int cpu_find_idle(struct instance *instance, int near)
{
	struct weights weights;
	unsigned int i;
	int found = -1;

	weigh(instance, NULL, &weights);
	for (i = 0; i < instance->n_cpus; i++) {
		if (weights.of[i])
			continue;
		if (near < 0 || instance->cpus[i].node == instance->cpus[near].node)
			return i;
		if (found < 0)
			found = i;
	}
	return found;
}

unsigned int cpu_find_shared(struct instance *instance, unsigned int near,
			     const struct lwk_process *process)
{
	struct weights all, own;
	unsigned int i, found = near, least;

	weigh(instance, NULL, &all);
	weigh(instance, process, &own);
	least = all.of[near];
	for (i = 0; i < instance->n_cpus; i++) {
		if (all.of[i] >= least || (process && !own.of[i]))
			continue;
		least = all.of[i];
		found = i;
	}
	return found;
}

int slot_find(struct instance *instance, unsigned int cpu)
{
	unsigned int slot;
	int found = -1;

	for (slot = instance->n_cpus; slot < instance->n_slots; slot++) {
		if (instance->threads[slot] || !obeyed(instance, slot, LWK_ORDER_NONE))
			continue;
		if (slot % instance->n_cpus == cpu)
			return slot;
		if (found < 0)
			found = slot;
	}
	return found;
}

int slot_take(struct instance *instance, unsigned int slot, unsigned int cpu,
	      struct lwk_thread *thread, u32 order, u32 pid)
{
	struct lwk_control *control = &instance->controls[slot];

	memset(&instance->channels[slot], 0, sizeof(instance->channels[slot]));
	control->fault_state = LWK_FAULT_IDLE;
	instance->grants[slot].state = LWK_GRANT_IDLE;
	control->pid = pid;
	send_first_order(instance, slot, order, cpu);
	if (!await_obedience(instance, slot, order)) {
		smp_store_release(&control->order, LWK_ORDER_NONE);
		return -EIO;
	}
	mutex_lock(&thread->charge_mutex);
	charge_begin(instance, slot, &thread->charge);
	mutex_unlock(&thread->charge_mutex);
	thread->stuck = true;
	instance->threads[slot] = thread;
	WRITE_ONCE(instance->slots_end, max(instance->slots_end, slot + 1));
	WRITE_ONCE(thread->slot, slot);
	spin_lock(&thread->lock);
	thread->channel = &instance->channels[slot];
	spin_unlock(&thread->lock);
	if (READ_ONCE(thread->process->gone_page))
		unmap_mapping_range(&thread->process->mapping, 0, 0, 1);
	return 0;
}

/* True when the thread still has its slot. */
static bool owns_slot(const struct lwk_thread *thread)
{
	return thread->slot >= 0 && thread->process->instance->threads[thread->slot] == thread;
}

/* No fault shows the proxy the channel any more. */
static void take_channel(struct lwk_thread *thread)
{
	down_write(&thread->process->shown);
	channel_forget(thread);
	up_write(&thread->process->shown);
}

/* Orders the slot to let go of the thread. */
static void dismiss(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;

	take_channel(thread);
	if (!owns_slot(thread) || !serves(instance))
		return;
	if (task_tgid(current) == thread->process->proxy) {
		mutex_lock(&thread->charge_mutex);
		charge_cpu_time(instance, thread->slot, &thread->charge);
		mutex_unlock(&thread->charge_mutex);
	}
	send_order(instance, thread->slot, LWK_ORDER_NONE);
}

/* Takes the slot of a dismissed thread back. False: its CPU does not let go of the process. */
static bool take_back(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	bool obeys = true;

	if (!owns_slot(thread))
		return true;
	if (serves(instance)) {
		obeys = await_obedience(instance, thread->slot, LWK_ORDER_NONE);
		thread->stuck = !obeys;
	}
	instance->threads[thread->slot] = NULL;
	/* The serving Linux thread may be waiting for packets. */
	wake_up_all(&instance->wait[thread->slot]);
	while (instance->slots_end && !instance->threads[instance->slots_end - 1])
		WRITE_ONCE(instance->slots_end, instance->slots_end - 1);
	return obeys || READ_ONCE(instance->stopping);
}

bool slots_release(struct lwk_process *process)
{
	struct lwk_thread *thread;
	bool obey = true;

	for (thread = process->first.next; thread; thread = thread->next)
		dismiss(thread);
	for (thread = process->first.next; thread; thread = thread->next)
		obey &= take_back(thread);
	/* The process's memory belongs to its first slot, so this one is released last. */
	dismiss(&process->first);
	obey &= take_back(&process->first);
	/* Another process gets the slots, whose channels the proxy may still have mapped. */
	unmap_mapping_range(&process->mapping, LWK_MMAP_CHANNEL,
			    PAGE_ALIGN(sizeof(struct lwk_channel)), 1);
	return obey;
}
