// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) "lwkpart: " fmt

#include "instance/state.h"

#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "abi/device/watch.h"
#include "instance/text.h"

void instance_set_state(struct instance *instance, enum lwk_state state)
{
	/* Some look at it without rwsem, and then at the message. */
	smp_store_release(&instance->state, state);
	instance->since_ns = ktime_get_real_ns();
	event_signal(&instance->events, LWK_EVENT_STATE);
	if (state == LWK_STATE_PANIC)
		event_signal(&instance->events, LWK_EVENT_PANIC);
	if (state == LWK_STATE_HUNG)
		event_signal(&instance->events, LWK_EVENT_HANG);
}

/*
 * True when CPUs are started and neither stopped nor found dead in this state. Then the shared
 * areas exist.
 */
static bool is_live(enum lwk_state state)
{
	switch (state) {
	case LWK_STATE_BOOTING:
	case LWK_STATE_RUNNING:
	case LWK_STATE_FREEZING:
	case LWK_STATE_FROZEN:
		return true;
	default:
		return false;
	}
}

static bool says_panic(const struct instance *instance)
{
	return is_live(READ_ONCE(instance->state)) &&
	       READ_ONCE(instance->status->state) == LWK_STATE_PANIC;
}

bool instance_memory_is_clear(const struct instance *instance)
{
	return is_live(READ_ONCE(instance->state)) && READ_ONCE(instance->status->memory_clear);
}

enum lwk_state instance_state(struct instance *instance)
{
	if (!says_panic(instance))
		return READ_ONCE(instance->state);
	/* The watch copies the message, for which it needs rwsem for writing. */
	instance_wake_watch(instance, 0);
	return LWK_STATE_PANIC;
}

enum lwk_state instance_tell(struct instance *instance, char *message)
{
	bool locked = down_read_trylock(&instance->rwsem);
	enum lwk_state state = smp_load_acquire(&instance->state);

	*message = 0;
	if (!is_live(state)) {
		/* The message was complete when the LWK was found dead. */
		strscpy(message, instance->message, LWKPART_MESSAGE_LEN);
	} else if (locked && says_panic(instance)) {
		copy_lwk_text(message, instance->status->message, LWKPART_MESSAGE_LEN);
		state = instance_state(instance);
	}
	if (locked)
		up_read(&instance->rwsem);
	return state;
}

void instance_notice_panic(struct instance *instance)
{
	u32 cpu = 0;
	bool new;

	/* Usually there is none. A writer that waits would keep later readers waiting, too. */
	down_read(&instance->rwsem);
	new = says_panic(instance);
	up_read(&instance->rwsem);
	if (!new)
		return;
	down_write(&instance->rwsem);
	new = says_panic(instance);
	if (new) {
		cpu = READ_ONCE(instance->status->panic_cpu);
		copy_lwk_text(instance->message, instance->status->message,
			      sizeof(instance->message));
		instance_set_state(instance, LWK_STATE_PANIC);
	}
	up_write(&instance->rwsem);
	if (!new)
		return;
	pr_err("the LWK of job %u (instance %u) panicked on its CPU %u: %s; end the job, and keep its console text for the maintainers of that LWK\n",
	       instance->job_id, instance->id, cpu, instance->message);
	instance_wake_proxies(instance);
}

void instance_declare_hung(struct instance *instance, const char *why)
{
	bool new;

	down_write(&instance->rwsem);
	new = state_has_processes(instance->state);
	if (new) {
		strscpy(instance->message, why, sizeof(instance->message));
		instance_set_state(instance, LWK_STATE_HUNG);
		/* The watch has the programs end. It runs until the state changes again. */
		instance_wake_watch(instance, 0);
	}
	up_write(&instance->rwsem);
	if (!new)
		return;
	pr_err("the LWK of job %u (instance %u) is hung: %s; end the job\n", instance->job_id,
	       instance->id, why);
	instance_wake_proxies(instance);
}
