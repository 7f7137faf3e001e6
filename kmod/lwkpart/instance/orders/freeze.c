// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the processes of an instance stand still: their CPUs halt in the LWK until they may go on.
 * CPUs without a process halt in any case.
 */
#include "instance/orders/freeze.h"

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "abi/shared/orders.h"
#include "instance/orders/doorbell.h"
#include "instance/state.h"

#define MAX_TIMEOUT_MS 60000U

void freeze_slot(struct instance *instance, unsigned int slot, u32 reason, bool frozen)
{
	struct lwk_control *control = &instance->controls[slot];
	u32 old = READ_ONCE(control->freeze), new = frozen ? old | reason : old & ~reason;

	if (new == old)
		return;
	smp_store_release(&control->freeze, new);
	doorbell_ring(instance, slot);
}

/* The process_mutex keeps others from changing a 'freeze' meanwhile. With rwsem held. */
static void freeze_all(struct instance *instance, bool frozen)
{
	unsigned int i;

	mutex_lock(&instance->process_mutex);
	for (i = 0; i < instance->n_slots; i++)
		if (instance->threads[i] || !frozen)
			freeze_slot(instance, i, FREEZE_INSTANCE, frozen);
	mutex_unlock(&instance->process_mutex);
}

static bool all_stand_still(struct instance *instance)
{
	bool still = true;
	unsigned int i;

	mutex_lock(&instance->process_mutex);
	for (i = 0; i < instance->n_slots; i++)
		if (instance->threads[i] &&
		    READ_ONCE(instance->status->cpu[i].times.state) != LWK_CPU_FROZEN)
			still = false;
	mutex_unlock(&instance->process_mutex);
	return still;
}

/* Changes the state, if it is 'from'. */
static bool move_on(struct instance *instance, enum lwk_state from, enum lwk_state to)
{
	bool moved;

	down_write(&instance->rwsem);
	moved = instance_state(instance) == from;
	if (moved)
		instance_set_state(instance, to);
	up_write(&instance->rwsem);
	return moved;
}

/* Waits in state FREEZING until all processes stand still: 0 or a negative error. */
static int wait_until_still(struct instance *instance, u32 timeout_ms)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), timeout_ms);
	int error = -EINPROGRESS;

	while (error == -EINPROGRESS) {
		down_read(&instance->rwsem);
		if (instance_state(instance) != LWK_STATE_FREEZING)
			error = -EHOSTDOWN;
		else if (all_stand_still(instance))
			error = 0;
		up_read(&instance->rwsem);
		if (error != -EINPROGRESS)
			break;
		if (ktime_after(ktime_get(), deadline))
			error = -ETIMEDOUT;
		else if (fatal_signal_pending(current))
			error = -EINTR;
		else
			usleep_range(50, 200);
	}
	return error;
}

static void thaw(struct instance *instance)
{
	down_read(&instance->rwsem);
	if (state_has_processes(instance_state(instance)))
		freeze_all(instance, false);
	up_read(&instance->rwsem);
}

static int freeze(struct instance *instance, u32 timeout_ms)
{
	int error;

	if (!move_on(instance, LWK_STATE_RUNNING, LWK_STATE_FREEZING))
		return READ_ONCE(instance->state) == LWK_STATE_FROZEN ? 0 : -EHOSTDOWN;
	down_read(&instance->rwsem);
	if (instance_state(instance) == LWK_STATE_FREEZING)
		freeze_all(instance, true);
	up_read(&instance->rwsem);
	error = wait_until_still(instance, timeout_ms);
	if (!error)
		return move_on(instance, LWK_STATE_FREEZING, LWK_STATE_FROZEN) ? 0 : -EHOSTDOWN;
	thaw(instance);
	move_on(instance, LWK_STATE_FREEZING, LWK_STATE_RUNNING);
	return error;
}

int freeze_instance(struct instance *instance, const struct lwk_freeze *request)
{
	if (request->frozen > 1 || !request->timeout_ms || request->timeout_ms > MAX_TIMEOUT_MS)
		return -EINVAL;
	if (request->frozen)
		return freeze(instance, request->timeout_ms);
	thaw(instance);
	if (move_on(instance, LWK_STATE_FROZEN, LWK_STATE_RUNNING))
		return 0;
	return READ_ONCE(instance->state) == LWK_STATE_RUNNING ? 0 : -EHOSTDOWN;
}
