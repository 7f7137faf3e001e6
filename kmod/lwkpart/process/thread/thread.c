// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/thread/thread.h"

#include <linux/sched.h>

void thread_init(struct lwk_thread *thread, struct lwk_process *process)
{
	thread->process = process;
	thread->slot = -1;
	mutex_init(&thread->fault_mutex);
	mutex_init(&thread->charge_mutex);
	spin_lock_init(&thread->lock);
}

struct lwk_thread *thread_of_caller(struct lwk_process *process)
{
	struct lwk_thread *thread = smp_load_acquire(&process->first.next);

	for (; thread; thread = thread->next)
		if (READ_ONCE(thread->proxy) == task_pid(current))
			return thread;
	return &process->first;
}

bool process_has_let_go(const struct lwk_process *process)
{
	const struct lwk_thread *thread;

	if (process->instance->stopped)
		return true;
	for (thread = &process->first; thread; thread = thread->next)
		if (thread->stuck)
			return false;
	return true;
}
