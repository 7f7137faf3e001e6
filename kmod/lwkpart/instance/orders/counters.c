// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells the LWK's CPUs which counters to run. A command interrupts them; their counts are read
 * from the status area, which does not.
 */
#include "instance/orders/counters.h"

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "instance/orders/doorbell.h"
#include "instance/state.h"

/* A CPU may be in the LWK's kernel for long, with interrupts off. */
#define OBEY_MS 5000
#define REMOVE_MS 500

static bool is_valid(const struct lwk_counter *counter)
{
	static const u32 limits[LWK_COUNTER_KINDS] = {
		[LWK_COUNTER_SOFTWARE] = LWK_COUNTS,
		[LWK_COUNTER_GENERAL] = 32,
		[LWK_COUNTER_FIXED] = 32,
	};

	if (counter->kind >= LWK_COUNTER_KINDS || counter->reserved ||
	    counter->number >= limits[counter->kind] || counter->select & ~LWK_SELECT_ALL)
		return false;
	return counter->kind != LWK_COUNTER_SOFTWARE || !counter->select;
}

static bool are_valid(const struct lwk_counters *request)
{
	u32 i;

	if (request->count > LWK_MAX_COUNTERS)
		return false;
	for (i = 0; i < request->count; i++)
		if (!is_valid(&request->counters[i]))
			return false;
	return true;
}

/* The caller holds rwsem, and the instance is in a state that has processes. */
static void publish(struct instance *instance, const struct lwk_counting *wanted)
{
	struct lwk_counting *to = &instance->params->counting;
	unsigned int i;

	WRITE_ONCE(to->order, wanted->order - 1);
	smp_wmb();
	to->set = wanted->set;
	to->running = wanted->running;
	to->count = wanted->count;
	memcpy(to->counters, wanted->counters, sizeof(to->counters));
	smp_store_release(&to->order, wanted->order);
	instance->counters.told = *wanted;
	for (i = 0; i < instance->n_cpus; i++)
		doorbell_ring(instance, i);
}

static bool all_obey(const struct instance *instance)
{
	unsigned int i;

	for (i = 0; i < instance->n_cpus; i++)
		if (READ_ONCE(instance->status->cpu[i].counters.order) !=
		    instance->counters.told.order)
			return false;
	return true;
}

/* An instance that is to be stopped obeys for the last time when its counters are removed. */
static int wait_until_obeyed(struct instance *instance, u32 timeout_ms, bool last)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), timeout_ms);
	int error = -EINPROGRESS;

	for (;;) {
		bool late = ktime_after(ktime_get(), deadline);

		down_read(&instance->rwsem);
		if (!state_has_processes(instance_state(instance)) ||
		    (READ_ONCE(instance->stopping) && !last))
			error = -EHOSTDOWN;
		else if (all_obey(instance))
			error = 0;
		up_read(&instance->rwsem);
		if (error != -EINPROGRESS)
			return error;
		if (late)
			return -ETIMEDOUT;
		if (fatal_signal_pending(current))
			return -EINTR;
		usleep_range(50, 200);
	}
}

/* Publishes what is wanted and waits until all CPUs obey. With counters.mutex held. */
static int order(struct instance *instance, struct lwk_counting *wanted, u32 timeout_ms, bool last)
{
	int error = -EHOSTDOWN;

	wanted->order = instance->counters.told.order + 2;
	down_read(&instance->rwsem);
	if (state_has_processes(instance_state(instance))) {
		publish(instance, wanted);
		error = 0;
	}
	up_read(&instance->rwsem);
	return error ? error : wait_until_obeyed(instance, timeout_ms, last);
}

static int carry_out(struct instance *instance, const struct lwk_counters *request)
{
	struct lwk_counting wanted = instance->counters.told;

	switch (request->command) {
	case LWK_COUNTERS_GET:
		return 0;
	case LWK_COUNTERS_SET:
		if (!are_valid(request))
			return -EINVAL;
		wanted.set++;
		wanted.running = 0;
		wanted.count = request->count;
		memset(wanted.counters, 0, sizeof(wanted.counters));
		memcpy(wanted.counters, request->counters,
		       request->count * sizeof(wanted.counters[0]));
		break;
	case LWK_COUNTERS_START:
	case LWK_COUNTERS_STOP:
		wanted.running = request->command == LWK_COUNTERS_START;
		break;
	default:
		return -EINVAL;
	}
	return order(instance, &wanted, OBEY_MS, false);
}

int counters_command(struct instance *instance, struct lwk_counters *request)
{
	int error;

	if (mutex_lock_killable(&instance->counters.mutex))
		return -EINTR;
	error = carry_out(instance, request);
	request->order = instance->counters.told.order;
	request->running = instance->counters.told.running;
	request->count = instance->counters.told.count;
	memcpy(request->counters, instance->counters.told.counters, sizeof(request->counters));
	mutex_unlock(&instance->counters.mutex);
	return error;
}

void counters_remove(struct instance *instance)
{
	struct lwk_counting none = { 0 };
	bool hardware = false;
	u32 i;

	mutex_lock(&instance->counters.mutex);
	for (i = 0; i < instance->counters.told.count; i++)
		hardware |= instance->counters.told.counters[i].kind != LWK_COUNTER_SOFTWARE;
	none.set = instance->counters.told.set + 1;
	/* The result does not matter: an LWK that does not answer is stopped in any case. */
	if (hardware)
		order(instance, &none, REMOVE_MS, true);
	mutex_unlock(&instance->counters.mutex);
}
