// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rouses the proxies of an LWK that does not answer any more. A thread that makes a delegated call,
 * such as the read of a pipe, waits for Linux and not for the LWK, so that a program whose threads
 * all do so would never end.
 */
#include "process/rouse.h"

#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/xarray.h>

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

/* A Linux process has got its signals in this round, or no thread of it can take one. */
#define DONE xa_mk_value(0)

/*
 * Returns the memory map that the threads of a proxy have in common, only to be compared; DONE: all have
 * ended; NULL: there are none.
 */
static void *find_memory(struct pid *proxy)
{
	struct task_struct *leader, *task;
	void *memory = NULL;

	rcu_read_lock();
	leader = pid_task(proxy, PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, task)
		{
			memory = READ_ONCE(task->mm);
			if (memory)
				break;
		}
	rcu_read_unlock();
	return leader && !memory ? DONE : memory;
}

static void rouse(struct lwk_process *process, struct pid *proxy)
{
	struct task_struct *leader, *task;

	rcu_read_lock();
	leader = pid_task(proxy, PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, task)
			/* A thread that stands still must not get ever more of them. */
			if (takes_signal(process, task) &&
			    !sigismember(&task->pending.signal, LWK_SIGNAL_GONE))
				send_sig(LWK_SIGNAL_GONE, task, 1);
	rcu_read_unlock();
}

/*
 * Goes through the threads of a proxy once in a round, however many processes it is the proxy of: there
 * may be thousands of both. 'known' has what find_memory() found, by the proxy's number. Without
 * memory for an entry the threads are looked at once more.
 */
static void rouse_once(struct lwk_process *process, struct xarray *known)
{
	struct pid *proxy = smp_load_acquire(&process->proxy);
	void *memory;

	if (!proxy)
		return;
	memory = xa_load(known, pid_nr(proxy));
	if (!memory) {
		memory = find_memory(proxy);
		xa_store(known, pid_nr(proxy), memory, GFP_NOWAIT | __GFP_NOWARN);
	}
	if (memory == DONE || !charge_is_of(&process->first.charge, memory))
		return;
	rouse(process, proxy);
	xa_store(known, pid_nr(proxy), DONE, GFP_NOWAIT | __GFP_NOWARN);
}

void rouse_proxies(struct instance *instance)
{
	struct lwk_process *process;
	struct xarray known;

	xa_init(&known);
	/* A process is freed after its file has left the list. */
	mutex_lock(&instance->files_mutex);
	list_for_each_entry(process, &instance->files, link) {
		rouse_once(process, &known);
		cond_resched();
	}
	mutex_unlock(&instance->files_mutex);
	xa_destroy(&known);
}
