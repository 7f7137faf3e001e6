// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds free slots of an instance, and orders the LWK to run a thread in a slot or to let it go.
 */
#include "process/slot.h"

#include <linux/delay.h>
#include <linux/jiffies.h>

#include "abi/shared/channel.h"
#include "abi/shared/grant.h"
#include "abi/shared/orders.h"
#include "instance/doorbell.h"
#include "process/channel.h"

/* How long a slot may take to obey an order. */
#define OBEY_TIMEOUT (5 * HZ)

/* Has the slot carried out the order? */
static bool obeyed(struct instance *instance, unsigned int slot, u32 order)
{
	return smp_load_acquire(&instance->controls[slot].obeyed) == order;
}

static bool give_order(struct instance *instance, unsigned int slot, u32 order)
{
	unsigned long deadline = jiffies + OBEY_TIMEOUT;
	unsigned int i;

	smp_store_release(&instance->controls[slot].order, order);
	do {
		doorbell_ring(instance, slot);
		for (i = 0; i < 100; i++) {
			if (obeyed(instance, slot, order))
				return true;
			usleep_range(20, 100);
		}
	} while (time_before(jiffies, deadline) && serves(instance));
	return obeyed(instance, slot, order);
}

/* The number of threads that a CPU has. */
static unsigned int threads_on(const struct instance *instance, unsigned int cpu)
{
	unsigned int slot, n = 0;

	for (slot = cpu; slot < instance->n_slots; slot += instance->n_cpus)
		if (instance->threads[slot])
			n++;
	return n;
}

int slot_find_on(struct instance *instance, unsigned int cpu)
{
	unsigned int slot;

	for (slot = cpu; slot < instance->n_slots; slot += instance->n_cpus)
		if (!instance->threads[slot] && obeyed(instance, slot, LWK_ORDER_NONE))
			return slot;
	return -1;
}

int slot_find_idle(struct instance *instance, int near)
{
	unsigned int i;
	int found = -1;

	for (i = 0; i < instance->n_cpus; i++) {
		int slot = threads_on(instance, i) ? -1 : slot_find_on(instance, i);

		if (slot < 0)
			continue;
		if (near < 0 || instance->cpus[i].node == instance->cpus[near].node)
			return slot;
		if (found < 0)
			found = slot;
	}
	return found;
}

static bool has_thread_on(struct lwk_process *process, unsigned int cpu)
{
	const struct instance *instance = process->instance;
	unsigned int slot;

	for (slot = cpu; slot < instance->n_slots; slot += instance->n_cpus)
		if (instance->threads[slot] && instance->threads[slot]->process == process)
			return true;
	return false;
}

int slot_find_shared(struct lwk_process *process)
{
	struct instance *instance = process->instance;
	unsigned int i, least = UINT_MAX;
	int found = -1;

	for (i = 0; i < instance->n_cpus; i++) {
		unsigned int threads = threads_on(instance, i);
		int slot = has_thread_on(process, i) ? slot_find_on(instance, i) : -1;

		if (slot < 0 || threads >= least)
			continue;
		least = threads;
		found = slot;
	}
	return found;
}

int slot_take(struct instance *instance, unsigned int slot, struct lwk_thread *thread, u32 order,
	      u32 pid)
{
	struct lwk_control *control = &instance->controls[slot];

	memset(&instance->channels[slot], 0, sizeof(instance->channels[slot]));
	control->fault_state = LWK_FAULT_IDLE;
	instance->grants[slot].state = LWK_GRANT_IDLE;
	control->pid = pid;
	if (!give_order(instance, slot, order)) {
		smp_store_release(&control->order, LWK_ORDER_NONE);
		return -EIO;
	}
	charge_begin(instance, slot, &thread->charge);
	thread->stuck = true;
	instance->threads[slot] = thread;
	WRITE_ONCE(thread->slot, slot);
	spin_lock(&thread->lock);
	thread->channel = &instance->channels[slot];
	spin_unlock(&thread->lock);
	return 0;
}

bool slot_release(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	int slot = thread->slot;
	bool obeys = true;

	channel_forget(thread);
	if (slot < 0 || instance->threads[slot] != thread)
		return true;
	if (serves(instance) && task_tgid(current) == thread->process->proxy)
		charge_cpu_time(instance, slot, &thread->charge);
	if (serves(instance)) {
		obeys = give_order(instance, slot, LWK_ORDER_NONE);
		thread->stuck = !obeys;
	}
	instance->threads[slot] = NULL;
	/* The serving Linux thread may be waiting for packets. */
	wake_up_all(&instance->wait[slot]);
	return obeys;
}
