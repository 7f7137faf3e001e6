// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of an LWK process: it begins, gets threads, gets another program, and ends. An open file
 * of /dev/lwk/N has at most one process, which ends when the file is closed.
 */
#include "process/process.h"

#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "abi/shared/orders.h"
#include "instance/orders/doorbell.h"
#include "process/memory/grant.h"
#include "process/memory/window.h"
#include "process/rouse.h"
#include "process/thread/channel.h"
#include "process/thread/slot.h"

/* 0 when a process may begin, or a negative error. With rwsem held. */
static int takes_processes(struct instance *instance)
{
	switch (instance_state(instance)) {
	case LWK_STATE_RUNNING:
		return 0;
	case LWK_STATE_FREEZING:
	case LWK_STATE_FROZEN:
		return -EBUSY;
	default:
		return -EHOSTDOWN;
	}
}

/* Begins a process on a free slot: 0 or a negative error. With rwsem and process_mutex held. */
static int begin(struct lwk_process *process, struct lwk_proc_create *create)
{
	struct instance *instance = process->instance;
	int slot, cpu, error = takes_processes(instance);

	if (error)
		return error;
	if (process->first.slot >= 0)
		return -EALREADY;
	cpu = cpu_find_idle(instance, -1);
	if (cpu < 0 && create->flags & LWK_PROC_SHARE)
		cpu = cpu_find_shared(
			instance, doorbell_cpu(instance, create->index % instance->n_slots), NULL);
	slot = cpu < 0 ? -1 : slot_find(instance, cpu);
	if (slot < 0)
		return -EAGAIN;
	instance->controls[slot].freeze = 0;
	error = slot_take(instance, slot, cpu, &process->first, LWK_ORDER_PROCESS, create->pid);
	if (error)
		return error;
	WRITE_ONCE(instance->n_processes, instance->n_processes + 1);
	smp_store_release(&process->proxy, get_task_pid(current, PIDTYPE_TGID));
	create->index = slot;
	create->cpu = instance->cpus[cpu].linux_cpu;
	return 0;
}

/*
 * Ends the process of the file and begins another one on its first slot: 0 or a negative error.
 * Sets *hung when a CPU does not let go. With rwsem and process_mutex held.
 */
static int begin_again(struct lwk_process *process, struct lwk_proc_create *create, bool *hung)
{
	struct instance *instance = process->instance;
	int slot = process->first.slot, cpu, error = takes_processes(instance);

	if (error)
		return error;
	if (slot < 0 || instance->threads[slot] != &process->first)
		return -EINVAL;
	cpu = doorbell_cpu(instance, slot);
	if (task_tgid(current) != process->proxy)
		return -EPERM;
	window_hide(process);
	grants_close(process);
	*hung = !slots_release(process);
	instance->controls[slot].freeze = 0;
	error = *hung || !process_has_let_go(process) ? -EIO : grants_renew(process);
	if (!error)
		error = slot_take(instance, slot, cpu, &process->first, LWK_ORDER_PROCESS,
				  create->pid);
	if (error) {
		WRITE_ONCE(instance->n_processes, instance->n_processes - 1);
		return error;
	}
	window_show(process);
	create->index = slot;
	create->cpu = instance->cpus[cpu].linux_cpu;
	return 0;
}

long process_create(struct lwk_process *process, struct lwk_proc_create *create)
{
	struct instance *instance = process->instance;
	bool hung = false;
	int error;

	if ((create->flags && create->flags != LWK_PROC_AGAIN && create->flags != LWK_PROC_SHARE) ||
	    !create->pid)
		return -EINVAL;
	/* Processes of one instance are not protected from each other: doc/security.md. */
	if (!uid_eq(current_euid(), instance->uid))
		return -EACCES;
	error = confine_current(&instance->confinement);
	if (error)
		return error;
	down_read(&instance->rwsem);
	mutex_lock(&instance->process_mutex);
	error = create->flags & LWK_PROC_AGAIN ? begin_again(process, create, &hung)
					       : begin(process, create);
	mutex_unlock(&instance->process_mutex);
	up_read(&instance->rwsem);
	if (hung)
		instance_declare_hung(instance, "a CPU does not let go of its process");
	return error;
}

/*
 * Finds a thread whose slot was given back, as LWK_PROC_AGAIN does, and whose Linux thread has
 * ended. Without its use again a process that begins again and again would have ever more threads.
 * With process_mutex held.
 */
static struct lwk_thread *find_ended(struct lwk_process *process)
{
	struct lwk_thread *thread;
	bool ended = false;

	for (thread = process->first.next; thread; thread = thread->next) {
		rcu_read_lock();
		ended = process->instance->threads[thread->slot] != thread && !thread->stuck &&
			!pid_task(thread->proxy, PIDTYPE_PID);
		rcu_read_unlock();
		if (ended)
			break;
	}
	return thread;
}

static struct lwk_thread *make_thread(struct lwk_process *process)
{
	struct lwk_thread *thread = kzalloc(sizeof(*thread), GFP_KERNEL_ACCOUNT);

	if (thread)
		thread_init(thread, process);
	return thread;
}

/* Refuses a caller that cannot be a new thread's proxy. With rwsem and process_mutex held. */
static int check_new_proxy(struct lwk_process *process)
{
	struct instance *instance = process->instance;
	int leader = process->first.slot;

	if (!serves(instance))
		return -EHOSTDOWN;
	if (leader < 0 || instance->threads[leader] != &process->first)
		return -EINVAL;
	if (task_tgid(current) != process->proxy)
		return -EPERM;
	if (current->pid == current->tgid || thread_of_caller(process) != &process->first)
		return -EALREADY;
	return 0;
}

/* Chooses the CPU of a new thread of the process: its number in the instance. */
static int choose_cpu(struct lwk_process *process)
{
	struct instance *instance = process->instance;
	int near = doorbell_cpu(instance, process->first.slot);
	int cpu = cpu_find_idle(instance, near);

	return cpu >= 0 ? cpu : cpu_find_shared(instance, near, process);
}

/* Gives a new thread a slot: 0 or a negative error. With rwsem and process_mutex held. */
static int take_slot(struct lwk_process *process, struct lwk_thread_create *create)
{
	struct instance *instance = process->instance;
	int leader = process->first.slot, slot, cpu, error;
	struct lwk_thread *thread, *ended;
	struct lwk_control *control;
	struct pid *former = NULL;

	error = check_new_proxy(process);
	if (error)
		return error;
	cpu = choose_cpu(process);
	slot = slot_find(instance, cpu);
	if (slot < 0)
		return -EAGAIN;
	ended = find_ended(process);
	thread = ended ? ended : make_thread(process);
	if (!thread)
		return -ENOMEM;
	control = &instance->controls[slot];
	control->leader = leader;
	/* A thread of a process that stands still begins so. */
	control->freeze = instance->controls[leader].freeze;
	error = slot_take(instance, slot, cpu, thread, LWK_ORDER_THREAD, task_pid_vnr(current));
	if (error) {
		if (!ended)
			kfree(thread);
		return error;
	}
	former = thread->proxy;
	WRITE_ONCE(thread->proxy, get_task_pid(current, PIDTYPE_PID));
	put_pid(former);
	if (!ended) {
		thread->next = process->first.next;
		smp_store_release(&process->first.next, thread);
	}
	create->index = slot;
	create->cpu = instance->cpus[cpu].linux_cpu;
	return 0;
}

long process_add_thread(struct lwk_process *process, struct lwk_thread_create *create)
{
	struct instance *instance = process->instance;
	int error;

	if (create->flags || create->reserved)
		return -EINVAL;
	down_read(&instance->rwsem);
	mutex_lock(&instance->process_mutex);
	error = take_slot(process, create);
	mutex_unlock(&instance->process_mutex);
	up_read(&instance->rwsem);
	return error;
}

unsigned int process_end(struct lwk_process *process)
{
	struct instance *instance = process->instance;
	bool hung, had_process;
	unsigned int left;
	int slot;

	grants_close(process);
	down_read(&instance->rwsem);
	mutex_lock(&instance->process_mutex);
	slot = process->first.slot;
	had_process = slot >= 0 && instance->threads[slot] == &process->first;
	hung = !slots_release(process);
	if (had_process) {
		WRITE_ONCE(instance->n_processes, instance->n_processes - 1);
		event_signal(&instance->events, LWK_EVENT_EXIT);
		instance_wake_watch(instance, 0);
	}
	left = instance->n_processes;
	grants_destroy(process);
	mutex_unlock(&instance->process_mutex);
	up_read(&instance->rwsem);
	if (hung)
		instance_declare_hung(instance, "a CPU does not let go of its process");
	return left;
}

void processes_revoke(struct instance *instance)
{
	struct lwk_process *process;
	struct lwk_thread *thread;
	unsigned int i;

	mutex_lock(&instance->process_mutex);
	for (i = 0; i < instance->n_slots; i++)
		instance->threads[i] = NULL;
	WRITE_ONCE(instance->n_processes, 0);
	mutex_lock(&instance->files_mutex);
	list_for_each_entry(process, &instance->files, link) {
		for (thread = &process->first; thread; thread = thread->next)
			channel_forget(thread);
		unmap_mapping_range(&process->mapping, 0, 0, 1);
	}
	mutex_unlock(&instance->files_mutex);
	mutex_unlock(&instance->process_mutex);
	instance_wake_proxies(instance);
	rouse_proxies(instance);
}

void processes_release(struct instance *instance)
{
	struct lwk_process *process;

	mutex_lock(&instance->process_mutex);
	instance->stopped = true;
	grants_release_stranded(instance);
	mutex_lock(&instance->files_mutex);
	list_for_each_entry(process, &instance->files, link) {
		grants_close(process);
		grants_destroy(process);
	}
	mutex_unlock(&instance->files_mutex);
	mutex_unlock(&instance->process_mutex);
	rouse_proxies(instance);
}
