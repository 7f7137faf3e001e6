// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /dev/lwk/N: the door through which a proxy has an LWK process. An open file has at
 * most one process, on an LWK CPU for each of its threads, and ends it when it is closed.
 *
 * The WINDOW shows the process's memory. A page that the LWK has not made yet is asked
 * for through struct lwk_control. Nothing the LWK or the user wrote is trusted: every
 * table and page on the way must lie in the instance's memory, and what is shown must
 * lie outside the LWK kernel's reserve (lwkshared.h).
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"
#include "process/process.h"

/* How long a CPU may take to notice an order, and to make a page. */
#define OBEY_TIMEOUT (5 * HZ)
#define FAULT_TIMEOUT (10 * HZ)
/* How many pages to show around one that was touched; a power of two. */
#define SHOW_AROUND 64

static dev_t first_device;
static struct class *device_class;

/* ---- orders to a slot; with rwsem held and the instance running ---- */

static bool obeyed(struct instance *instance, unsigned int index, u32 order)
{
	return smp_load_acquire(&instance->controls[index].obeyed) == order;
}

static bool give_order(struct instance *instance, unsigned int index, u32 order)
{
	unsigned long deadline = jiffies + OBEY_TIMEOUT;
	unsigned int i;

	smp_store_release(&instance->controls[index].order, order);
	do {
		doorbell_ring(instance, index);
		for (i = 0; i < 100; i++) {
			if (obeyed(instance, index, order))
				return true;
			usleep_range(20, 100);
		}
	} while (time_before(jiffies, deadline) && serves(instance));
	return obeyed(instance, index, order);
}

/* The threads that a CPU has. With process_mutex held. */
static unsigned int threads_on(const struct instance *instance, unsigned int cpu)
{
	unsigned int slot, n = 0;

	for (slot = cpu; slot < instance->n_slots; slot += instance->n_cpus)
		if (instance->threads[slot])
			n++;
	return n;
}

/* … one that it can have more, or -1. */
static int free_slot_on(struct instance *instance, unsigned int cpu)
{
	unsigned int slot;

	for (slot = cpu; slot < instance->n_slots; slot += instance->n_cpus)
		if (!instance->threads[slot] && obeyed(instance, slot, LWK_ORDER_NONE))
			return slot;
	return -1;
}

/* A slot of a CPU without a thread, on that NUMA node if it can be had, or -1. With process_mutex held. */
static int find_free_cpu(struct instance *instance, int near)
{
	unsigned int i;
	int found = -1;

	for (i = 0; i < instance->n_cpus; i++) {
		int slot = threads_on(instance, i) ? -1 : free_slot_on(instance, i);

		if (slot < 0)
			continue;
		if (near < 0 || instance->cpus[i].node == instance->cpus[near].node)
			return slot;
		if (found < 0)
			found = slot;
	}
	return found;
}

static bool has_thread_on(struct lwk_process *process, unsigned int cpu)
{
	const struct instance *instance = process->instance;
	unsigned int slot;

	for (slot = cpu; slot < instance->n_slots; slot += instance->n_cpus)
		if (instance->threads[slot] && instance->threads[slot]->process == process)
			return true;
	return false;
}

/* A slot of the CPU with the fewest threads of those that the process has, or -1. With process_mutex held. */
static int find_shared_cpu(struct lwk_process *process)
{
	struct instance *instance = process->instance;
	unsigned int i, least = UINT_MAX;
	int found = -1;

	for (i = 0; i < instance->n_cpus; i++) {
		unsigned int threads = threads_on(instance, i);
		int slot = has_thread_on(process, i) ? free_slot_on(instance, i) : -1;

		if (slot < 0 || threads >= least)
			continue;
		least = threads;
		found = slot;
	}
	return found;
}

/* Makes a free slot the thread's. With rwsem and process_mutex held. 0 or -EIO */
static int take_slot(struct instance *instance, unsigned int index, struct lwk_thread *thread,
		     u32 order, u32 pid)
{
	struct lwk_control *control = &instance->controls[index];

	memset(&instance->channels[index], 0, sizeof(instance->channels[index]));
	control->fault_state = LWK_FAULT_IDLE;
	instance->grants[index].state = LWK_GRANT_IDLE;
	control->pid = pid;
	if (!give_order(instance, index, order)) {
		smp_store_release(&control->order, LWK_ORDER_NONE);
		return -EIO;
	}
	charge_begin(instance, index, &thread->charge);
	thread->stuck = true;
	instance->threads[index] = thread;
	WRITE_ONCE(thread->index, index);
	spin_lock(&thread->lock);
	thread->channel = &instance->channels[index];
	spin_unlock(&thread->lock);
	return 0;
}

static void thread_init(struct lwk_thread *thread, struct lwk_process *process)
{
	thread->process = process;
	thread->index = -1;
	mutex_init(&thread->fault_mutex);
	mutex_init(&thread->charge_mutex);
	spin_lock_init(&thread->charge.lock);
	spin_lock_init(&thread->lock);
}

/* May a process begin? With rwsem held. 0 or a negative error. */
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

/* With rwsem and process_mutex held. 0 or a negative error. */
static int create_on_free_cpu(struct lwk_process *process, struct lwk_proc_create *create)
{
	struct instance *instance = process->instance;
	int index, error = takes_processes(instance);

	if (error)
		return error;
	if (process->first.index >= 0)
		return -EALREADY;
	index = find_free_cpu(instance, -1);
	if (index < 0 && create->flags & LWK_PROC_SHARE)
		index = free_slot_on(instance, create->index % instance->n_cpus);
	if (index < 0)
		return -EAGAIN;
	instance->controls[index].freeze = 0;
	error = take_slot(instance, index, &process->first, LWK_ORDER_PROCESS, create->pid);
	if (error)
		return error;
	instance->n_processes++;
	smp_store_release(&process->proxy, get_task_pid(current, PIDTYPE_TGID));
	create->index = index;
	create->cpu = instance->cpus[index % instance->n_cpus].linux_cpu;
	return 0;
}

struct lwk_thread *thread_of_caller(struct lwk_process *process)
{
	struct lwk_thread *thread = smp_load_acquire(&process->first.next);

	for (; thread; thread = thread->next)
		if (thread->proxy == task_pid(current))
			return thread;
	return &process->first;
}

/* With rwsem and process_mutex held. 0 or a negative error. */
static int add_thread(struct lwk_process *process, struct lwk_thread *thread)
{
	struct instance *instance = process->instance;
	int leader = process->first.index, index, error;
	struct lwk_control *control;

	if (!serves(instance))
		return -EHOSTDOWN;
	if (leader < 0 || instance->threads[leader] != &process->first)
		return -EINVAL;
	if (task_tgid(current) != process->proxy)
		return -EPERM;
	if (current->pid == current->tgid || thread_of_caller(process) != &process->first)
		return -EALREADY;
	index = find_free_cpu(instance, leader % instance->n_cpus);
	if (index < 0)
		index = find_shared_cpu(process);
	if (index < 0)
		return -EAGAIN;
	control = &instance->controls[index];
	control->leader = leader;
	/* If the others stand still, this one does too. */
	control->freeze = instance->controls[leader].freeze;
	error = take_slot(instance, index, thread, LWK_ORDER_THREAD, task_pid_vnr(current));
	if (error)
		return error;
	thread->proxy = get_task_pid(current, PIDTYPE_PID);
	thread->next = process->first.next;
	smp_store_release(&process->first.next, thread);
	return 0;
}

static long thread_create(struct lwk_process *process, struct lwk_thread_create __user *arg)
{
	struct instance *instance = process->instance;
	struct lwk_thread_create create;
	struct lwk_thread *thread;
	int error;

	if (copy_from_user(&create, arg, sizeof(create)))
		return -EFAULT;
	if (create.flags || create.reserved)
		return -EINVAL;
	thread = kzalloc(sizeof(*thread), GFP_KERNEL);
	if (!thread)
		return -ENOMEM;
	thread_init(thread, process);
	down_read(&instance->rwsem);
	mutex_lock(&instance->process_mutex);
	error = add_thread(process, thread);
	if (!error) {
		create.index = thread->index;
		create.cpu = instance->cpus[thread->index % instance->n_cpus].linux_cpu;
	}
	mutex_unlock(&instance->process_mutex);
	up_read(&instance->rwsem);
	if (error) {
		kfree(thread);
		return error;
	}
	/* If this fails, the CPU is the process's without use. */
	return copy_to_user(arg, &create, sizeof(create)) ? -EFAULT : 0;
}

static void forget_channel(struct lwk_thread *thread)
{
	spin_lock(&thread->lock);
	thread->channel = NULL;
	spin_unlock(&thread->lock);
}

/* Takes the slot back. With rwsem and process_mutex held. False: it does not let go. */
static bool release_slot(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	int index = thread->index;
	bool obeys = true;

	forget_channel(thread);
	if (index < 0 || instance->threads[index] != thread)
		return true;
	if (serves(instance) && task_tgid(current) == thread->process->proxy)
		charge_cpu_time(instance, index, &thread->charge);
	if (serves(instance)) {
		obeys = give_order(instance, index, LWK_ORDER_NONE);
		thread->stuck = !obeys;
	}
	instance->threads[index] = NULL;
	/* Its Linux thread may be waiting for packets. */
	wake_up_all(&instance->wait[index]);
	return obeys;
}

/* No page of the process is seen in its WINDOW any more, or will be. */
static void hide_window(struct lwk_process *process)
{
	down_write(&process->shown);
	process->hidden = true;
	up_write(&process->shown);
	unmap_mapping_range(process->mapping, 0, 0, 1);
}

/* With rwsem and process_mutex held. 0 or a negative error; *hung: a CPU does not let go. */
static int create_again(struct lwk_process *process, struct lwk_proc_create *create, bool *hung)
{
	struct instance *instance = process->instance;
	int index = process->first.index, error = takes_processes(instance);
	struct lwk_thread *thread;

	if (error)
		return error;
	if (index < 0 || instance->threads[index] != &process->first)
		return -EINVAL;
	if (task_tgid(current) != process->proxy)
		return -EPERM;
	hide_window(process);
	grants_close(process);
	for (thread = process->first.next; thread; thread = thread->next)
		*hung |= !release_slot(thread);
	*hung |= !release_slot(&process->first);
	instance->controls[index].freeze = 0;
	error = *hung ? -EIO : grants_renew(process);
	if (!error)
		error = take_slot(instance, index, &process->first, LWK_ORDER_PROCESS, create->pid);
	if (error) {
		instance->n_processes--;
		return error;
	}
	process->hidden = false;
	create->index = index;
	create->cpu = instance->cpus[index % instance->n_cpus].linux_cpu;
	return 0;
}

static long process_create(struct lwk_process *process, struct lwk_proc_create __user *arg)
{
	struct instance *instance = process->instance;
	struct lwk_proc_create create;
	bool hung = false;
	int error;

	if (copy_from_user(&create, arg, sizeof(create)))
		return -EFAULT;
	if ((create.flags && create.flags != LWK_PROC_AGAIN && create.flags != LWK_PROC_SHARE) ||
	    !create.pid)
		return -EINVAL;
	error = confine_current(instance);
	if (error)
		return error;
	down_read(&instance->rwsem);
	mutex_lock(&instance->process_mutex);
	error = create.flags & LWK_PROC_AGAIN ? create_again(process, &create, &hung)
					      : create_on_free_cpu(process, &create);
	mutex_unlock(&instance->process_mutex);
	up_read(&instance->rwsem);
	if (hung)
		instance_hung(instance, "a CPU does not let go of its process");
	if (error)
		return error;
	/* If this fails, the process ends with the file, as any other. */
	return copy_to_user(arg, &create, sizeof(create)) ? -EFAULT : 0;
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

/* How many processes the instance still has. */
static unsigned int process_end(struct lwk_process *process)
{
	struct instance *instance = process->instance;
	struct lwk_thread *thread;
	bool hung = false, had_process;
	unsigned int left;
	int index;

	grants_close(process);
	down_read(&instance->rwsem);
	mutex_lock(&instance->process_mutex);
	index = process->first.index;
	had_process = index >= 0 && instance->threads[index] == &process->first;
	/* The memory is the first CPU's, so that is the last one to go. */
	for (thread = process->first.next; thread; thread = thread->next)
		hung |= !release_slot(thread);
	hung |= !release_slot(&process->first);
	if (had_process) {
		instance->n_processes--;
		event_signal(instance, LWK_EVENT_EXIT);
		watch_soon(instance);
	}
	left = instance->n_processes;
	grants_destroy(process);
	mutex_unlock(&instance->process_mutex);
	up_read(&instance->rwsem);
	if (hung)
		instance_hung(instance, "a CPU does not let go of its process");
	return left;
}

void process_revoke_all(struct instance *instance)
{
	struct lwk_process *process;
	struct lwk_thread *thread;
	unsigned int i;

	mutex_lock(&instance->process_mutex);
	for (i = 0; i < instance->n_slots; i++)
		instance->threads[i] = NULL;
	instance->n_processes = 0;
	list_for_each_entry(process, &instance->files, link) {
		for (thread = &process->first; thread; thread = thread->next)
			forget_channel(thread);
		unmap_mapping_range(process->mapping, 0, 0, 1);
	}
	mutex_unlock(&instance->process_mutex);
	process_wake_all(instance);
}

void process_stopped_all(struct instance *instance)
{
	struct lwk_process *process;

	mutex_lock(&instance->process_mutex);
	instance->stopped = true;
	grants_release_stranded(instance);
	list_for_each_entry(process, &instance->files, link) {
		grants_close(process);
		grants_destroy(process);
	}
	mutex_unlock(&instance->process_mutex);
}

/* By a signal, or by the freezer of cgroup v1 or v2, which is how Slurm suspends a job. */
static bool stands_still(const struct task_struct *task)
{
	if (READ_ONCE(task->signal->flags) & SIGNAL_STOP_STOPPED)
		return true;
#ifdef CONFIG_CGROUPS
	if (task->frozen)
		return true;
#endif
#ifdef TASK_FROZEN
	return READ_ONCE(task->__state) & TASK_FROZEN;
#else
	return task->flags & PF_FROZEN;
#endif
}

void process_follow_proxies(struct instance *instance)
{
	unsigned int i;

	down_read(&instance->rwsem);
	/* Who has the mutex may wait for the LWK for seconds: next time, then. */
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
			stopped = stands_still(task);
		rcu_read_unlock();
		freeze_slot(instance, i, FREEZE_PROXY, stopped);
	}
	mutex_unlock(&instance->process_mutex);
	up_read(&instance->rwsem);
}

void process_wake(struct instance *instance, unsigned int slot)
{
	wake_up(&instance->wait[slot]);
}

void process_wake_all(struct instance *instance)
{
	unsigned int i;

	for (i = 0; i < instance->n_slots; i++)
		wake_up_all(&instance->wait[i]);
}

/* ---- the window ---- */

static bool in_partition(const struct instance *instance, u64 phys, u64 size)
{
	unsigned int i;

	for (i = 0; i < instance->n_mem; i++)
		if (phys >= instance->mem[i].start &&
		    phys - instance->mem[i].start <= instance->mem[i].size - size)
			return true;
	return false;
}

/* What a window may show: the partition without the LWK kernel's reserve. */
static bool in_user_pool(const struct instance *instance, u64 phys, u64 size)
{
	return in_partition(instance, phys, size) &&
	       (phys + size <= instance->reserve_start ||
		phys >= instance->reserve_start + instance->reserve_size);
}

/* A page of the LWK process, as its page tables have it. */
struct view {
	u64 *entry;	   /* of the page: 4 KB or 2 MB */
	u64 value;	   /* of the entry when we looked */
	unsigned int size; /* bytes it maps */
};

/* Finds the page at addr; false when there is none, or the tables are nonsense. */
static bool walk(struct instance *instance, int index, unsigned long addr, struct view *view)
{
	u64 table = READ_ONCE(instance->status->cpu[index].page_root);
	unsigned int level = pgtable_l5_enabled() ? 5 : 4;

	for (;; level--) {
		unsigned int shift = PAGE_SHIFT + 9 * (level - 1);

		if (table % PAGE_SIZE || !in_partition(instance, table, PAGE_SIZE))
			return false;
		view->entry = (u64 *)phys_to_virt(table) + (addr >> shift & 511);
		view->value = READ_ONCE(*view->entry);
		view->size = 1U << min(shift, 30U);
		if (!(view->value & _PAGE_PRESENT) || !(view->value & _PAGE_USER))
			return false;
		if (level == 1 || (level == 2 && view->value & _PAGE_PSE))
			return true;
		if (view->value & _PAGE_PSE)
			return false;
		table = view->value & PTE_PFN_MASK;
	}
}

/* Shows the page at addr to the proxy. VM_FAULT_RETRY: the LWK must be asked first. */
static vm_fault_t show(struct lwk_process *process, struct vm_area_struct *vma, unsigned long addr,
		       bool write)
{
	struct instance *instance = process->instance;
	struct view view;
	u64 phys;
	pgprot_t prot;

	if (!walk(instance, process->first.index, addr, &view) ||
	    (write && !(view.value & _PAGE_RW)))
		return VM_FAULT_RETRY;
	phys = (view.value & PTE_PFN_MASK & ~(u64)(view.size - 1)) | (addr & (view.size - 1));
	phys &= PAGE_MASK;
	if (!in_user_pool(instance, phys, PAGE_SIZE))
		return VM_FAULT_SIGSEGV;
	/* If the LWK has changed the entry meanwhile, the fault comes again. */
	if (!(view.value & LWK_PTE_SEEN_BY_LINUX)) {
		u64 seen = view.value | LWK_PTE_SEEN_BY_LINUX;

		if (cmpxchg(view.entry, view.value, seen) != view.value)
			return VM_FAULT_NOPAGE;
	}
	prot = vm_get_page_prot(view.value & _PAGE_RW ? VM_READ | VM_WRITE | VM_SHARED
						      : VM_READ | VM_SHARED);
	return vmf_insert_pfn_prot(vma, addr, phys >> PAGE_SHIFT, prot);
}

/* And its neighbours, as far as they are there: a call rarely touches only one. */
static void show_around(struct lwk_process *process, struct vm_area_struct *vma, unsigned long addr)
{
	unsigned long first = addr & ~(SHOW_AROUND * PAGE_SIZE - 1), a;

	for (a = first; a < first + SHOW_AROUND * PAGE_SIZE; a += PAGE_SIZE)
		if (a != addr && a >= vma->vm_start && a < vma->vm_end &&
		    show(process, vma, a, false) != VM_FAULT_NOPAGE)
			break;
}

/* Asks the LWK CPU that the caller serves for the page at addr; true when it is there now. */
static bool ask(struct lwk_process *process, unsigned long addr, bool write)
{
	struct lwk_thread *thread = thread_of_caller(process);
	struct instance *instance = process->instance;
	unsigned long deadline = jiffies + FAULT_TIMEOUT;
	struct lwk_control *control;
	u32 state = LWK_FAULT_ASKED;
	unsigned int tries = 0;

	if (mutex_lock_killable(&thread->fault_mutex))
		return false;
	while (state == LWK_FAULT_ASKED && time_before(jiffies, deadline) &&
	       !fatal_signal_pending(current)) {
		down_read(&instance->rwsem);
		if (!has_cpu(thread)) {
			up_read(&instance->rwsem);
			break;
		}
		control = &instance->controls[thread->index];
		if (tries == 0) {
			control->fault_addr = addr;
			control->fault_write = write;
			smp_store_release(&control->fault_state, LWK_FAULT_ASKED);
			doorbell_ring(instance, thread->index);
		}
		state = smp_load_acquire(&control->fault_state);
		up_read(&instance->rwsem);
		if (state != LWK_FAULT_ASKED)
			break;
		/* It is on another CPU and usually there at once. */
		if (++tries < 100)
			cpu_relax();
		else
			usleep_range(20, 100);
	}
	mutex_unlock(&thread->fault_mutex);
	return state == LWK_FAULT_READY;
}

static vm_fault_t touch_window(struct lwk_process *process, struct vm_area_struct *vma,
			       unsigned long addr, bool write)
{
	struct instance *instance = process->instance;
	vm_fault_t result = VM_FAULT_RETRY;
	unsigned int attempt;

	for (attempt = 0; attempt < 3 && result == VM_FAULT_RETRY; attempt++) {
		if (attempt && !ask(process, addr, write))
			return VM_FAULT_SIGSEGV;
		down_read(&instance->rwsem);
		down_read(&process->shown);
		if (has_cpu(&process->first) && !process->hidden) {
			result = show(process, vma, addr, write);
			if (result == VM_FAULT_NOPAGE)
				show_around(process, vma, addr);
		} else {
			result = VM_FAULT_SIGBUS;
		}
		up_read(&process->shown);
		up_read(&instance->rwsem);
	}
	return result == VM_FAULT_RETRY ? VM_FAULT_SIGSEGV : result;
}

static vm_fault_t window_fault(struct vm_fault *vmf)
{
	return touch_window(vmf->vma->vm_private_data, vmf->vma, vmf->address & PAGE_MASK,
			    vmf->flags & FAULT_FLAG_WRITE);
}

/* A write to a page that is shown read-only: it is so in the LWK too, or was. */
static vm_fault_t window_write(struct vm_fault *vmf)
{
	struct lwk_process *process = vmf->vma->vm_private_data;
	unsigned long addr = vmf->address & PAGE_MASK;
	struct instance *instance = process->instance;
	struct view view;
	bool writable;

	down_read(&instance->rwsem);
	writable = has_cpu(&process->first) && walk(instance, process->first.index, addr, &view) &&
		   view.value & _PAGE_RW;
	up_read(&instance->rwsem);
	return writable ? 0 : VM_FAULT_SIGSEGV;
}

/* Something else was mapped in the middle of it: now there are two. */
static void window_open(struct vm_area_struct *vma)
{
	struct lwk_process *process = vma->vm_private_data;

	charge_open(&process->first.charge, vma->vm_mm);
}

static void window_close(struct vm_area_struct *vma)
{
	struct lwk_process *process = vma->vm_private_data;

	/* A short program's only chance to be seen with its memory, by whom waits for its proxy. */
	down_read(&process->instance->rwsem);
	if (vma->vm_mm == current->mm && has_cpu(&process->first))
		charge_memory(process->instance, process->first.index, &process->first.charge);
	up_read(&process->instance->rwsem);
	charge_close(&process->first.charge, vma->vm_mm);
}

static const struct vm_operations_struct window_ops = {
	.open = window_open,
	.close = window_close,
	.fault = window_fault,
	.pfn_mkwrite = window_write,
};

/* ---- the shared areas ---- */

static vm_fault_t insert_page(struct vm_fault *vmf, void *area)
{
	unsigned long offset = (vmf->address & PAGE_MASK) - vmf->vma->vm_start;

	return vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK,
			      (virt_to_phys(area) + offset) >> PAGE_SHIFT);
}

static vm_fault_t status_fault(struct vm_fault *vmf)
{
	struct lwk_process *process = vmf->vma->vm_private_data;
	struct instance *instance = process->instance;
	vm_fault_t result = VM_FAULT_SIGBUS;

	down_read(&instance->rwsem);
	if (serves(instance) &&
	    (vmf->address & PAGE_MASK) - vmf->vma->vm_start < LWK_STATUS_BYTES(instance->n_slots))
		result = insert_page(vmf, instance->status);
	up_read(&instance->rwsem);
	return result;
}

static vm_fault_t channel_fault(struct vm_fault *vmf)
{
	struct lwk_thread *thread = vmf->vma->vm_private_data;
	struct instance *instance = thread->process->instance;
	vm_fault_t result = VM_FAULT_SIGBUS;
	struct lwk_channel *channel;

	down_read(&instance->rwsem);
	channel = READ_ONCE(thread->channel);
	if (serves(instance) && channel)
		result = insert_page(vmf, channel);
	up_read(&instance->rwsem);
	return result;
}

static const struct vm_operations_struct status_ops = {
	.fault = status_fault,
};

static const struct vm_operations_struct channel_ops = {
	.fault = channel_fault,
};

static bool is_window(const struct vm_area_struct *vma, u64 offset)
{
	return vma->vm_start >= LWK_USER_START && vma->vm_end <= LWK_USER_END &&
	       offset == LWK_MMAP_WINDOW + vma->vm_start - LWK_USER_START;
}

static int process_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct lwk_process *process = file->private_data;
	struct lwk_thread *thread = thread_of_caller(process);
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT, size = vma->vm_end - vma->vm_start;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vma->vm_private_data = process;
	switch (offset) {
	case LWK_MMAP_STATUS:
		if (size > PAGE_ALIGN(sizeof(struct lwk_status)))
			return -EINVAL;
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		vma->vm_flags &= ~VM_MAYWRITE;
		vma->vm_ops = &status_ops;
		break;
	case LWK_MMAP_CHANNEL:
		if (thread->index < 0 || size != sizeof(struct lwk_channel))
			return -EINVAL;
		vma->vm_private_data = thread;
		vma->vm_ops = &channel_ops;
		break;
	default:
		if (process->first.index < 0 || !is_window(vma, offset))
			return -EINVAL;
		vma->vm_ops = &window_ops;
		charge_open(&process->first.charge, vma->vm_mm);
	}
	/* Not for a child: it is not the proxy. Not for code: the LWK runs it, not we. */
	vma->vm_flags |= VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY;
	vma->vm_flags &= ~VM_MAYEXEC;
	return 0;
}

static long process_unmap(struct lwk_process *process, struct lwk_unmap __user *arg)
{
	struct vm_area_struct *vma;
	struct lwk_unmap range;
	unsigned long at, end;
	long error = -EINVAL;

	if (copy_from_user(&range, arg, sizeof(range)))
		return -EFAULT;
	if (!PAGE_ALIGNED(range.start) || !PAGE_ALIGNED(range.size) || !range.size ||
	    range.size > LWK_USER_END || range.start > LWK_USER_END - range.size)
		return -EINVAL;
	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	end = range.start + range.size;
	/* Who is about to show a page has looked at its entry before we were asked. */
	down_write(&process->shown);
	for (at = range.start; at < end && (vma = find_vma(current->mm, at)); at = vma->vm_end) {
		if (vma->vm_start >= end)
			break;
		if (vma->vm_ops != &window_ops || vma->vm_private_data != process)
			continue;
		at = max(at, vma->vm_start);
		zap_vma_ptes(vma, at, min(end, vma->vm_end) - at);
		error = 0;
	}
	up_write(&process->shown);
	mmap_read_unlock(current->mm);
	return error;
}

/* ---- the file ---- */

static long process_status(struct lwk_process *process, struct lwk_instance_status __user *arg)
{
	struct instance *instance = process->instance;
	struct lwk_instance_status status = {};

	down_read(&instance->rwsem);
	status.state = instance_state(instance);
	status.cpus = instance->n_cpus;
	status.status_bytes = PAGE_ALIGN(LWK_STATUS_BYTES(instance->n_slots));
	status.processes = READ_ONCE(instance->n_processes);
	memcpy(status.message, instance->message, sizeof(status.message));
	up_read(&instance->rwsem);
	return copy_to_user(arg, &status, sizeof(status)) ? -EFAULT : 0;
}

static long process_details(struct lwk_process *process, struct lwk_instance_details __user *arg)
{
	struct instance *instance = process->instance;
	struct lwk_instance_details details = {
		.uid = from_kuid_munged(current_user_ns(), instance->uid),
		.job_id = instance->job_id,
	};
	unsigned int i;

	instance_notice_panic(instance);
	down_read(&instance->rwsem);
	details.state = instance->state;
	details.since_ns = instance->since_ns;
	details.cpus = instance->n_cpus;
	details.processes = READ_ONCE(instance->n_processes);
	for (i = 0; i < instance->n_mem; i++)
		details.bytes += instance->mem[i].size;
	memcpy(details.message, instance->message, sizeof(details.message));
	up_read(&instance->rwsem);
	return copy_to_user(arg, &details, sizeof(details)) ? -EFAULT : 0;
}

static long process_usage(struct lwk_process *process, struct lwk_usage __user *arg)
{
	struct lwk_usage usage;
	int error;

	if (copy_from_user(&usage, arg, sizeof(usage)))
		return -EFAULT;
	if (usage.reserved[0] || usage.reserved[1])
		return -EINVAL;
	error = usage_copy(process->instance, &usage);
	if ((!error || error == -ENOSPC) && copy_to_user(arg, &usage, sizeof(usage)))
		return -EFAULT;
	return error;
}

static long process_kmsg(struct lwk_process *process, struct lwkpart_kmsg __user *arg)
{
	struct lwkpart_kmsg kmsg;
	int error;

	if (copy_from_user(&kmsg, arg, sizeof(kmsg)))
		return -EFAULT;
	if (kmsg.flags || kmsg.instance)
		return -EINVAL;
	error = console_copy(process->instance, &kmsg);
	if (error)
		return error;
	return copy_to_user(arg, &kmsg, sizeof(kmsg)) ? -EFAULT : 0;
}

static long process_eventfd(struct lwk_process *process, struct lwk_eventfd __user *arg)
{
	struct lwk_eventfd request;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	return event_listen(process->instance, process, &request);
}

static long process_freeze(struct lwk_process *process, struct lwk_freeze __user *arg)
{
	struct lwk_freeze request;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	return freeze_instance(process->instance, &request);
}

static long process_counters(struct lwk_process *process, struct lwk_counters __user *arg)
{
	struct lwk_counters request;
	int error;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	error = counters_command(process->instance, &request);
	if (error)
		return error;
	return copy_to_user(arg, &request, sizeof(request)) ? -EFAULT : 0;
}

static int process_open(struct inode *inode, struct file *file)
{
	struct instance *instance = container_of(inode->i_cdev, struct instance, cdev);
	struct lwk_process *process = kzalloc(sizeof(*process), GFP_KERNEL);

	if (!process)
		return -ENOMEM;
	if (grants_create(process)) {
		kfree(process);
		return -ENOMEM;
	}
	process->instance = instance;
	process->mapping = file->f_mapping;
	thread_init(&process->first, process);
	init_rwsem(&process->shown);
	file->private_data = process;
	mutex_lock(&instance->process_mutex);
	list_add(&process->link, &instance->files);
	mutex_unlock(&instance->process_mutex);
	return 0;
}

static int process_release(struct inode *inode, struct file *file)
{
	struct lwk_process *process = file->private_data;
	struct lwk_thread *thread;

	event_forget(process->instance, process);
	process_end(process);
	mutex_lock(&process->instance->process_mutex);
	list_del(&process->link);
	mutex_unlock(&process->instance->process_mutex);
	while ((thread = process->first.next)) {
		process->first.next = thread->next;
		put_pid(thread->proxy);
		kfree(thread);
	}
	put_pid(process->proxy);
	kfree(process);
	return 0;
}

static long process_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct lwk_process *process = file->private_data;
	void __user *user = (void __user *)arg;

	switch (command) {
	case LWK_GET_STATUS:
		return process_status(process, user);
	case LWK_PROC_CREATE:
		return process_create(process, user);
	case LWK_SERVE:
		return serve(thread_of_caller(process), user);
	case LWK_DOORBELL:
		return serve_doorbell(thread_of_caller(process));
	case LWK_UNMAP:
		return process_unmap(process, user);
	case LWK_GRANT:
		return grants_serve(process);
	case LWK_GET_DETAILS:
		return process_details(process, user);
	case LWK_GET_USAGE:
		return process_usage(process, user);
	case LWK_KMSG:
		return process_kmsg(process, user);
	case LWK_EVENTFD:
		return process_eventfd(process, user);
	case LWK_FREEZE:
		return process_freeze(process, user);
	case LWK_COUNTERS:
		return process_counters(process, user);
	case LWK_THREAD_CREATE:
		return thread_create(process, user);
	case LWK_PROC_END:
		if (task_tgid(current) != process->proxy)
			return -EPERM;
		hide_window(process);
		return process_end(process);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations process_fops = {
	.owner = THIS_MODULE,
	.open = process_open,
	.release = process_release,
	.unlocked_ioctl = process_ioctl,
	.mmap = process_mmap,
};

/* ---- the device ---- */

static char *device_node(struct device *device, umode_t *mode, kuid_t *uid, kgid_t *gid)
{
	struct instance *instance = container_of(device, struct instance, device);

	/* Only the name is wanted when the node goes away. */
	if (mode)
		*mode = 0600;
	if (uid)
		*uid = instance->uid;
	return kasprintf(GFP_KERNEL, "lwk/%u", instance->id);
}

static const struct device_type device_type = {
	.name = "lwk",
	.devnode = device_node,
};

static void device_release(struct device *device)
{
	instance_put(container_of(device, struct instance, device));
}

int process_device_create(struct instance *instance)
{
	unsigned int i;
	int error;

	INIT_LIST_HEAD(&instance->files);
	INIT_LIST_HEAD(&instance->stranded);
	for (i = 0; i < LWK_MAX_SLOTS; i++)
		init_waitqueue_head(&instance->wait[i]);
	snprintf(instance->name, sizeof(instance->name), "lwk%u", instance->id);

	/* An open file holds the cdev, that the device, and that the instance. */
	instance_get(instance);
	device_initialize(&instance->device);
	instance->device.class = device_class;
	instance->device.type = &device_type;
	instance->device.devt = MKDEV(MAJOR(first_device), instance->id);
	instance->device.release = device_release;
	cdev_init(&instance->cdev, &process_fops);
	instance->cdev.owner = THIS_MODULE;
	error = dev_set_name(&instance->device, "lwk%u", instance->id);
	if (!error)
		error = cdev_device_add(&instance->cdev, &instance->device);
	if (error)
		put_device(&instance->device);
	return error;
}

void process_device_destroy(struct instance *instance)
{
	cdev_device_del(&instance->cdev, &instance->device);
	put_device(&instance->device);
}

int process_init(void)
{
	int error = alloc_chrdev_region(&first_device, 0, LWKPART_MAX_INSTANCES, "lwk");

	if (error)
		return error;
	serve_init();
	device_class = class_create(THIS_MODULE, "lwk");
	if (IS_ERR(device_class)) {
		unregister_chrdev_region(first_device, LWKPART_MAX_INSTANCES);
		return PTR_ERR(device_class);
	}
	return 0;
}

void process_exit(void)
{
	class_destroy(device_class);
	unregister_chrdev_region(first_device, LWKPART_MAX_INSTANCES);
}
