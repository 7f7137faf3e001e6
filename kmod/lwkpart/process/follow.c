// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes LWK processes stand still while their proxies are stopped, and go on with them.
 */
#include "process/follow.h"

#include <linux/sched/signal.h>

#include "compat/compat.h"
#include "instance/orders/freeze.h"
#include "process/thread/thread.h"

/*
 * True when a signal or the freezer of cgroup v1 or v2 has stopped the process. Slurm suspends jobs
 * in these ways.
 */
static bool is_stopped(const struct task_struct *task)
{
	if (READ_ONCE(task->signal->flags) & SIGNAL_STOP_STOPPED)
		return true;
#ifdef CONFIG_CGROUPS
	/* The bits beside it change meanwhile, and so may this one: the watch comes again. */
	if (data_race(task->frozen == 1))
		return true;
#endif
#ifdef TASK_FROZEN
	return READ_ONCE(task->__state) & TASK_FROZEN;
#else
	return task->flags & PF_FROZEN;
#endif
}

void follow_proxies(struct instance *instance)
{
	unsigned int i;

	down_read(&instance->rwsem);
	/* The holder of the mutex may wait for the LWK for seconds; the watch comes again. */
	if (!mutex_trylock(&instance->process_mutex)) {
		up_read(&instance->rwsem);
		return;
	}
	for (i = 0; i < instance->n_slots && serves(instance); i++) {
		struct lwk_thread *thread = instance->threads[i];
		struct task_struct *task;
		bool stopped = false;

		if (!thread)
			continue;
		rcu_read_lock();
		task = pid_task(thread->process->proxy, PIDTYPE_TGID);
		if (task)
			stopped = is_stopped(task);
		rcu_read_unlock();
		freeze_slot(instance, i, FREEZE_PROXY, stopped);
	}
	mutex_unlock(&instance->process_mutex);
	up_read(&instance->rwsem);
}
