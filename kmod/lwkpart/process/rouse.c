// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rouses the proxies of an LWK that does not answer any more. A thread that makes a delegated call,
 * such as the read of a pipe, waits for Linux and not for the LWK, so that a program whose threads
 * all do so would never end.
 */
#include "process/rouse.h"

#include <linux/sched/signal.h>

#include "abi/device/serve.h"
#include "process/thread/thread.h"

/*
 * True when the task is a thread of the process's proxy that can take the signal. A Linux process
 * that has become another program is no proxy any more, even if somebody still has its file open.
 * One that has not begun to serve has no handler, and waits for nothing but the LWK. With RCU's read
 * lock held.
 */
static bool takes_signal(struct lwk_process *process, struct task_struct *task)
{
	const struct sighand_struct *handlers = rcu_dereference(task->sighand);
	__sighandler_t handler;

	if (!handlers || !charge_is_of(&process->first.charge, READ_ONCE(task->mm)))
		return false;
	handler = READ_ONCE(handlers->action[LWK_SIGNAL_GONE - 1].sa.sa_handler);
	return handler != SIG_DFL && handler != SIG_IGN;
}

static void rouse(struct lwk_process *process)
{
	struct pid *proxy = smp_load_acquire(&process->proxy);
	struct task_struct *leader, *task;

	rcu_read_lock();
	leader = proxy ? pid_task(proxy, PIDTYPE_TGID) : NULL;
	if (leader)
		for_each_thread(leader, task)
			/* A thread that stands still must not get ever more of them. */
			if (takes_signal(process, task) &&
			    !sigismember(&task->pending.signal, LWK_SIGNAL_GONE))
				send_sig(LWK_SIGNAL_GONE, task, 1);
	rcu_read_unlock();
}

void rouse_proxies(struct instance *instance)
{
	struct lwk_process *process;

	/* A process is freed after its file has left the list. */
	mutex_lock(&instance->files_mutex);
	list_for_each_entry(process, &instance->files, link) {
		rouse(process);
		cond_resched();
	}
	mutex_unlock(&instance->files_mutex);
}
