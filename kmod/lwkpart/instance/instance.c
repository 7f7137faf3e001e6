// SPDX-License-Identifier: GPL-2.0-or-later
#include "instance/instance.h"

#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "instance/mail.h"

static void release(struct kref *kref)
{
	struct instance *instance = container_of(kref, struct instance, kref);

	confinement_release(&instance->confinement);
	kvfree(instance);
}

void instance_get(struct instance *instance)
{
	kref_get(&instance->kref);
}

void instance_put(struct instance *instance)
{
	kref_put(&instance->kref, release);
}

void instance_wake_for_mail(wait_queue_head_t *wait)
{
	__wake_up(wait, TASK_NORMAL, 1, INSTANCE_MAIL);
}

void instance_wake_proxy(struct instance *instance, unsigned int slot)
{
	wait_queue_head_t *wait = &instance->wait[slot];

	if (mail_waits(&instance->channels[slot].to_linux))
		instance_wake_for_mail(wait);
	else
		wake_up(wait);
}

void instance_wake_proxies(struct instance *instance)
{
	unsigned int i;

	for (i = 0; i < instance->n_slots; i++)
		wake_up_all(&instance->wait[i]);
}

void instance_wake_watch(struct instance *instance, unsigned long delay)
{
	unsigned int cpu = instance->doorbells.target[0];

	/* The CPU may have gone off-line, or may have been lent, since it was chosen. */
	if (cpu_online(cpu)) {
		mod_delayed_work_on(cpu, system_percpu_wq, &instance->watch.work, delay);
		/* Linux moves a timer that was there before the CPU was dead, and none that came later. */
		if (cpu_online(cpu))
			return;
	}
	mod_delayed_work_on(WORK_CPU_UNBOUND, system_percpu_wq, &instance->watch.work, delay);
}
