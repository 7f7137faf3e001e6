// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Boots the LWK of an instance, and stops it.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "boot.h"

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "instance/orders/counters.h"
#include "instance/orders/doorbell.h"
#include "instance/state.h"
#include "lending/cpu.h"
#include "process/process.h"
#include "watch.h"

/* Starts all CPUs, which then come side by side: 0, or -ETIMEDOUT; then the state is HUNG. */
static int start_cpus(struct instance *instance)
{
	unsigned int i;
	int error;

	for (i = 0; i < instance->n_cpus; i++) {
		struct cpu_entry entry = {
			.page_root = instance->page_root,
			.address = instance->entry,
			.stack = instance->stacks + (i + 1) * LWK_BOOT_STACK,
			.params = LWK_DIRECT_MAP + virt_to_phys(instance->params),
			.index = i,
		};

		cpu_start(instance->cpus[i].linux_cpu, &entry);
	}
	for (i = 0; i < instance->n_cpus; i++) {
		error = cpu_started(instance->cpus[i].linux_cpu);
		if (error) {
			down_write(&instance->rwsem);
			scnprintf(instance->message, sizeof(instance->message),
				  "CPU %u did not start", instance->cpus[i].linux_cpu);
			instance_set_state(instance, LWK_STATE_HUNG);
			up_write(&instance->rwsem);
			instance_wake_proxies(instance);
			return error;
		}
	}
	return 0;
}

/* With 'life' held. */
static int start(struct instance *instance, const char *cmdline)
{
	int error;

	if (instance->state != LWK_STATE_LOADED)
		return -EBUSY;
	strscpy(instance->params->cmdline, cmdline, sizeof(instance->params->cmdline));
	clock_publish(instance->clock, &instance->clock_published);
	error = doorbell_connect(instance);
	if (error)
		return error;
	down_write(&instance->rwsem);
	instance_set_state(instance, LWK_STATE_BOOTING);
	up_write(&instance->rwsem);
	error = start_cpus(instance);
	if (error)
		return error;
	watch_start(instance);
	return 0;
}

int boot_start(struct instance *instance, const char *cmdline)
{
	int error;

	/* While an instance is only loaded, nobody has 'life' for long. */
	if (READ_ONCE(instance->state) != LWK_STATE_LOADED)
		return -EBUSY;
	mutex_lock(&instance->life);
	error = start(instance, cmdline);
	mutex_unlock(&instance->life);
	return error;
}

/* True when the LWK says that it runs. With rwsem held, in state BOOTING. */
static bool says_running(const struct instance *instance)
{
	return READ_ONCE(instance->status->magic) == LWK_SHARED_MAGIC &&
	       READ_ONCE(instance->status->state) == LWK_STATE_RUNNING;
}

/* Ends the wait for the LWK. With rwsem held for writing, in state BOOTING. */
static void give_up_boot(struct instance *instance, const char *why)
{
	scnprintf(instance->message, sizeof(instance->message), "%s; %u of %u CPUs came up", why,
		  READ_ONCE(instance->status->cpus_up), instance->n_cpus);
	instance_set_state(instance, LWK_STATE_HUNG);
}

/* -EINPROGRESS while the LWK boots, then the result of LWKPART_BOOT. */
static int boot_result(struct instance *instance, ktime_t deadline)
{
	bool late = ktime_after(ktime_get(), deadline);
	int result = -EINPROGRESS;

	instance_notice_panic(instance);
	down_write(&instance->rwsem);
	if (instance->state == LWK_STATE_PANIC) {
		result = -EIO;
	} else if (instance->state != LWK_STATE_BOOTING) {
		result = -ECANCELED; /* another program has shut it down */
	} else if (says_running(instance)) {
		instance_set_state(instance, LWK_STATE_RUNNING);
		result = 0;
	} else if (late) {
		give_up_boot(instance, "it did not run in time");
		result = -ETIMEDOUT;
	} else if (fatal_signal_pending(current)) {
		give_up_boot(instance, "the program that booted it was killed");
		result = -EINTR;
	}
	up_write(&instance->rwsem);
	return result;
}

int boot_wait(struct instance *instance, u32 timeout_ms)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), timeout_ms);
	int result;

	while ((result = boot_result(instance, deadline)) == -EINPROGRESS)
		usleep_range(200, 1000);
	instance_wake_proxies(instance);
	if (result == -ETIMEDOUT)
		pr_err("the LWK of job %u (instance %u) was expected to run %u ms after its start: %s; read its console, or give it more time\n",
		       instance->job_id, instance->id, timeout_ms, instance->message);
	return result;
}

/* With 'life' held. */
static void stop(struct instance *instance)
{
	bool started = instance->state > LWK_STATE_LOADED && instance->state != LWK_STATE_SHUTDOWN;

	if (instance->state == LWK_STATE_SHUTDOWN)
		return;
	counters_remove(instance);
	down_write(&instance->rwsem);
	instance_set_state(instance, LWK_STATE_SHUTDOWN);
	up_write(&instance->rwsem);
	instance_wake_proxies(instance);
	if (!started)
		return;
	processes_revoke(instance);
	cpu_stop(instance->cpus, instance->n_cpus);
	processes_release(instance);
	doorbell_disconnect(instance);
	watch_stop(instance);
}

void boot_stop(struct instance *instance)
{
	/* Tasks that wait for the LWK with a lock of the instance give up. */
	WRITE_ONCE(instance->stopping, true);
	mutex_lock(&instance->life);
	stop(instance);
	mutex_unlock(&instance->life);
}
