// SPDX-License-Identifier: GPL-2.0-or-later
/* Linux, as far as the files of lwkpart.ko need it here. */
#include "linux.h"

#include "kernel.h"

struct linux_side *linux_side;

struct task_struct *current_task(void)
{
	return &linux_side->tasks[model_self()];
}

/* ---- tasks ---- */

static int try_to_wake_up(struct task_struct *task, unsigned int mode)
{
	u32 state;

	smp_mb();
	state = READ_ONCE(task->state);
	while (state & mode)
		if (__atomic_compare_exchange_n(&task->state, &state, TASK_RUNNING, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return 1;
	return 0;
}

#define TURNS 2

bool cond_resched(void)
{
	if (++current->turns <= TURNS)
		return false;
	current->turns = 0;
	model_yield();
	return true;
}

void schedule(void)
{
	struct task_struct *task = current;

	must(task->cred == task->own_cred);
	task->turns = 0;
	if (READ_ONCE(task->state) & TASK_INTERRUPTIBLE && signal_pending(task))
		WRITE_ONCE(task->state, TASK_RUNNING);
	model_take(&task->state, ~0U, TASK_RUNNING, ~0U, 0);
}

void send_sig(int signal, struct task_struct *task, int of_kernel)
{
	__atomic_fetch_or(&task->thread_info.flags, _TIF_SIGPENDING, __ATOMIC_SEQ_CST);
	try_to_wake_up(task, TASK_INTERRUPTIBLE);
}

void flush_signals(struct task_struct *task)
{
	__atomic_fetch_and(&task->thread_info.flags, ~_TIF_SIGPENDING, __ATOMIC_SEQ_CST);
}

/* ---- wait queues ---- */

void init_waitqueue_head(wait_queue_head_t *queue)
{
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->head);
}

int default_wake_function(wait_queue_entry_t *entry, unsigned int mode, int flags, void *key)
{
	return try_to_wake_up(entry->private, mode);
}

int autoremove_wake_function(wait_queue_entry_t *entry, unsigned int mode, int flags, void *key)
{
	int woken = default_wake_function(entry, mode, flags, key);

	if (woken)
		list_del_init(&entry->entry);
	return woken;
}

void prepare_to_wait(wait_queue_head_t *queue, wait_queue_entry_t *entry, unsigned int state)
{
	spin_lock(&queue->lock);
	if (list_empty(&entry->entry))
		list_add_tail(&entry->entry, &queue->head);
	smp_store_mb(current->state, state);
	spin_unlock(&queue->lock);
}

void finish_wait(wait_queue_head_t *queue, wait_queue_entry_t *entry)
{
	WRITE_ONCE(current->state, TASK_RUNNING);
	spin_lock(&queue->lock);
	list_del_init(&entry->entry);
	spin_unlock(&queue->lock);
}

void __wake_up(wait_queue_head_t *queue, unsigned int mode, int exclusive, void *key)
{
	wait_queue_entry_t *entry, *next;

	spin_lock(&queue->lock);
	list_for_each_entry_safe(entry, next, &queue->head, entry)
		entry->func(entry, mode, 0, key);
	spin_unlock(&queue->lock);
}

/* ---- interrupts ---- */

int request_irq(unsigned int irq, irqreturn_t (*handler)(int irq, void *data), unsigned long flags,
		const char *name, void *data)
{
	linux_side->irq.handler = handler;
	linux_side->irq.data = data;
	linux_side->irq.number = irq;
	return 0;
}

struct irq_data *irq_get_irq_data(unsigned int irq)
{
	linux_side->irq.of = (struct irq_data){ .irq = irq };
	return &linux_side->irq.of;
}

struct irq_cfg *irqd_cfg(struct irq_data *data)
{
	static struct irq_cfg cfg = { .vector = 0x40 };

	return &cfg;
}

void linux_interrupts(void *unused)
{
	for (;;) {
		model_take(&linux_side->irq.pending, ~0U, 1, 0, 0);
		linux_side->irq.handler(linux_side->irq.number, linux_side->irq.data);
	}
}

void interrupt_linux(void)
{
	model_post(&linux_side->irq.pending, 1);
}

static void icr_write(u32 low, u32 id)
{
	interrupt_lwk(id);
}

static const struct apic x2apic = { icr_write };
const struct apic *const apic = &x2apic;
