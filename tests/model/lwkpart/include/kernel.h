/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of Linux that some files of lwkpart.ko use, which the model builds for user space. The
 * Makefile makes the names of Linux's headers lead here. Everything that decides the order of events
 * has Linux's meaning on x86: an instruction with a lock prefix, which is a barrier, takes a lock; a
 * plain store gives a spinlock back; a wake-up is a barrier. Time stands still.
 */
#ifndef MODEL_KERNEL_H
#define MODEL_KERNEL_H

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explorer/explorer.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef __u64 u64;
typedef __s64 s64;
typedef uint64_t phys_addr_t;
typedef long loff_t;
typedef long ssize_t;

#define __user

/* ---- shared memory ---- */

#define barrier() __asm__ volatile("" ::: "memory")
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_store_mb(x, v) ((void)__atomic_exchange_n(&(x), (v), __ATOMIC_SEQ_CST))
#define smp_mb() model_barrier()
#define cpu_relax() model_relax()

typedef struct {
	int counter;
} atomic_t;
#define atomic_read(v) READ_ONCE((v)->counter)
#define atomic_inc(v) ((void)__atomic_fetch_add(&(v)->counter, 1, __ATOMIC_SEQ_CST))
#define atomic_dec(v) ((void)__atomic_fetch_sub(&(v)->counter, 1, __ATOMIC_SEQ_CST))

/* ---- small things ---- */

#define container_of(at, type, member) ((type *)((char *)(at) - offsetof(type, member)))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define clamp(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define pr_err(...) ((void)0)
#define pr_warn(...) ((void)0)
#define ERR_PTR(error) ((void *)(long)(error))
#define IS_ERR(at) ((unsigned long)(at) >= -4095UL)
#define ERESTARTSYS 512
#define memset model_memset
#define memcpy model_memcpy

#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)

#define kvfree(at) ((void)(at))

static inline unsigned long copy_from_user(void *to, const void *from, unsigned long size)
{
	model_memcpy(to, from, size);
	return 0;
}
#define copy_to_user copy_from_user

/* ---- lists ---- */

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	WRITE_ONCE(list->next, list);
	list->prev = list;
}

static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	new->next = head;
	new->prev = head->prev;
	WRITE_ONCE(head->prev->next, new);
	head->prev = new;
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	WRITE_ONCE(entry->prev->next, entry->next);
}

/* From now on the list begins with this entry, and goes on as before. */
static inline void list_rotate_to_front(struct list_head *entry, struct list_head *head)
{
	list_del(head);
	list_add_tail(head, entry);
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline bool list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}

#define list_entry(at, type, member) container_of(at, type, member)
#define list_for_each_entry(each, head, member)                                                    \
	for (each = list_entry((head)->next, __typeof__(*each), member); &each->member != (head);  \
	     each = list_entry(each->member.next, __typeof__(*each), member))
#define list_for_each_entry_safe(each, after, head, member)                                        \
	for (each = list_entry((head)->next, __typeof__(*each), member),                           \
	    after = list_entry(each->member.next, __typeof__(*each), member);                      \
	     &each->member != (head);                                                              \
	     each = after, after = list_entry(each->member.next, __typeof__(*each), member))

/* ---- locks ---- */

typedef struct {
	u32 locked;
} spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->locked = 0;
}

static inline void spin_lock(spinlock_t *lock)
{
	model_take(&lock->locked, ~0U, 0, 0, 1);
}

static inline void spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

/*
 * Bit 0: locked; from bit 8 on: the threads that wait; from bit 16 on: the thread that gets it next.
 * A waiting thread gets it before one that comes later; Linux does so after a while.
 */
struct mutex {
	u32 word;
};
#define MUTEX_LOCKED 1U
#define MUTEX_WAITERS 0xff00U
#define MUTEX_WAITER(thread) (0x100U << (thread))
#define MUTEX_NEXT(thread) (0x10000U << (thread))

static inline bool mutex_swap(struct mutex *mutex, u32 *word, u32 new)
{
	return __atomic_compare_exchange_n(&mutex->word, word, new, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static inline void mutex_init(struct mutex *mutex)
{
	mutex->word = 0;
}

static inline bool mutex_trylock(struct mutex *mutex)
{
	u32 word = 0;

	return mutex_swap(mutex, &word, MUTEX_LOCKED);
}

static inline void mutex_lock(struct mutex *mutex)
{
	u32 word = 0, next = MUTEX_NEXT(model_self());

	while (!mutex_swap(mutex, &word, word ? word | MUTEX_WAITER(model_self()) : MUTEX_LOCKED))
		;
	if (word)
		model_take(&mutex->word, next, next, ~next, 0);
}

/* No holder of a mutex waits for long, so nobody has to be killed who waits for one. */
#define mutex_lock_killable(mutex) (mutex_lock(mutex), 0)

static inline void mutex_unlock(struct mutex *mutex)
{
	unsigned int next = model_self();
	u32 word = MUTEX_LOCKED, new = 0;

	while (!mutex_swap(mutex, &word, new)) {
		do
			next = (next + 1) % 8;
		while (!(word & MUTEX_WAITER(next)));
		new = (word & ~MUTEX_WAITER(next)) | MUTEX_NEXT(next);
	}
}

/* Readers, writers that wait, and a writer; who comes later waits for a writer that waits. */
struct rw_semaphore {
	u32 count;
};
#define RWSEM_WRITER 0x80000000U
#define RWSEM_WAITER 0x00010000U
#define RWSEM_WAITERS 0x7fff0000U
#define RWSEM_READERS 0x0000ffffU

static inline void down_read(struct rw_semaphore *sem)
{
	model_take(&sem->count, RWSEM_WRITER | RWSEM_WAITERS, 0, ~0U, 1);
}

static inline bool down_read_trylock(struct rw_semaphore *sem)
{
	u32 count = READ_ONCE(sem->count);

	while (!(count & (RWSEM_WRITER | RWSEM_WAITERS)))
		if (__atomic_compare_exchange_n(&sem->count, &count, count + 1, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return true;
	return false;
}

static inline void up_read(struct rw_semaphore *sem)
{
	__atomic_fetch_sub(&sem->count, 1, __ATOMIC_SEQ_CST);
}

static inline void down_write(struct rw_semaphore *sem)
{
	__atomic_fetch_add(&sem->count, RWSEM_WAITER, __ATOMIC_SEQ_CST);
	model_take(&sem->count, RWSEM_WRITER | RWSEM_READERS, 0, ~0U, RWSEM_WRITER - RWSEM_WAITER);
}

static inline void up_write(struct rw_semaphore *sem)
{
	__atomic_fetch_sub(&sem->count, RWSEM_WRITER, __ATOMIC_SEQ_CST);
}

static inline bool rwsem_is_contended(struct rw_semaphore *sem)
{
	return READ_ONCE(sem->count) & RWSEM_WAITERS;
}

/* ---- tasks ---- */

#define TASK_RUNNING 0U
#define TASK_INTERRUPTIBLE 1U
#define TASK_UNINTERRUPTIBLE 2U
#define TASK_NORMAL 3U

#define _TIF_SIGPENDING 1U
#define _TIF_NEED_RESCHED 2U

struct thread_info {
	u32 flags;
};

struct files_struct {
	atomic_t count;
};

struct task_struct {
	struct thread_info thread_info;
	u32 state;
	u32 ptrace;
	u32 turns; /* since it waited */
	struct pid *tgid;
	struct files_struct *files;
	void *task_works;
	const struct cred *own_cred, *cred; /* its own, and those it acts with */
};

/* The task of the calling thread. */
struct task_struct *current_task(void);
#define current current_task()
#define current_thread_info() (&current->thread_info)
#define task_tgid(task) ((task)->tgid)
#define task_pid(task) ((task)->tgid)

static inline bool signal_pending(const struct task_struct *task)
{
	return READ_ONCE(task->thread_info.flags) & _TIF_SIGPENDING;
}

void send_sig(int signal, struct task_struct *task, int of_kernel);
void flush_signals(struct task_struct *task);
#define SIGKILL 9

void schedule(void);
/* No time passes, so no wait times out. */
static inline long schedule_timeout(long most)
{
	schedule();
	return most;
}
/* A task that goes on and on without a wait lets others go on. */
bool cond_resched(void);
/* Time passes for a task that looks again and again, so that a signal ends its wait. */
static inline int down_read_killable(struct rw_semaphore *sem)
{
	while (!down_read_trylock(sem)) {
		if (signal_pending(current))
			return -EINTR;
		model_yield();
	}
	return 0;
}
#define need_resched() (READ_ONCE(current->thread_info.flags) & _TIF_NEED_RESCHED)
#define single_task_running() true
#define ktime_get_ns() model_time_ns()
typedef s64 ktime_t;
#define ktime_get() ((ktime_t)1)
#define ktime_add_ms(time, ms) ((time) + (ms))
#define ktime_after(a, b) ((a) > (b))
#define usleep_range(least, most) model_yield()
#define fatal_signal_pending signal_pending
#define HZ 250
#define jiffies 0UL
#define time_before(a, b) ((long)((a) - (b)) < 0)
#define time_after_eq(a, b) (!time_before(a, b))

#define cpu_online(cpu) true
#define cpumask_of(cpu) ((const struct cpumask *)NULL)

struct cred {
	u32 task; /* whose they are */
};
#define current_cred() (current->cred)

static inline const struct cred *override_creds(const struct cred *cred)
{
	const struct cred *before = current->cred;

	current->cred = cred;
	return before;
}

static inline void revert_creds(const struct cred *cred)
{
	current->cred = cred;
}

/* ---- wait queues ---- */

typedef struct wait_queue_head {
	spinlock_t lock;
	struct list_head head;
} wait_queue_head_t;

struct wait_queue_entry;
typedef int (*wait_queue_func_t)(struct wait_queue_entry *entry, unsigned int mode, int flags,
				 void *key);
typedef struct wait_queue_entry {
	void *private;
	wait_queue_func_t func;
	struct list_head entry;
} wait_queue_entry_t;

void init_waitqueue_head(wait_queue_head_t *queue);
static inline void init_waitqueue_func_entry(wait_queue_entry_t *entry, wait_queue_func_t func)
{
	entry->private = NULL;
	entry->func = func;
}
int default_wake_function(wait_queue_entry_t *entry, unsigned int mode, int flags, void *key);
int autoremove_wake_function(wait_queue_entry_t *entry, unsigned int mode, int flags, void *key);
void prepare_to_wait(wait_queue_head_t *queue, wait_queue_entry_t *entry, unsigned int state);
void finish_wait(wait_queue_head_t *queue, wait_queue_entry_t *entry);
/* Wakes all waiters; none of them waits exclusively. */
void __wake_up(wait_queue_head_t *queue, unsigned int mode, int exclusive, void *key);
#define wake_up(queue) __wake_up(queue, TASK_NORMAL, 1, NULL)
#define wake_up_all(queue) __wake_up(queue, TASK_NORMAL, 0, NULL)
#define waitqueue_active(queue) (!list_empty(&(queue)->head))

#define wait_event_interruptible(queue, condition)                                                 \
	({                                                                                         \
		wait_queue_entry_t waiting = { .private = current,                                 \
					       .func = autoremove_wake_function };                 \
		long result = 0;                                                                   \
		INIT_LIST_HEAD(&waiting.entry);                                                    \
		for (;;) {                                                                         \
			prepare_to_wait(&(queue), &waiting, TASK_INTERRUPTIBLE);                   \
			if (condition)                                                             \
				break;                                                             \
			if (signal_pending(current)) {                                             \
				result = -ERESTARTSYS;                                             \
				break;                                                             \
			}                                                                          \
			schedule();                                                                \
		}                                                                                  \
		finish_wait(&(queue), &waiting);                                                   \
		result;                                                                            \
	})
#define wait_event_interruptible_timeout(queue, condition, timeout)                                \
	({                                                                                         \
		long left = (timeout);                                                             \
		if (!(condition) && wait_event_interruptible(queue, condition) < 0)                \
			left = -ERESTARTSYS;                                                       \
		left;                                                                              \
	})
/* The time may end at any time, when nothing has come yet. No scenario has signals for it. */
#define wait_event_timeout(queue, condition, timeout)                                              \
	({                                                                                         \
		long rest = (timeout);                                                             \
		if (!(condition)) {                                                                \
			if (model_choose(2))                                                       \
				wait_event_interruptible(queue, condition);                        \
			else if (!(condition))                                                     \
				rest = 0;                                                          \
		}                                                                                  \
		rest;                                                                              \
	})
#define wait_event_killable_timeout wait_event_timeout

/* ---- interrupts ---- */

typedef int irqreturn_t;
#define IRQ_HANDLED 1
#define IRQF_NOBALANCING 0
#define IRQ_TYPE_EDGE_RISING 1
#define IRQCHIP_SKIP_SET_WAKE 0

struct fwnode_handle;
struct cpumask;
struct irq_domain {
	struct fwnode_handle *fwnode;
};
struct irq_data {
	unsigned int irq;
	void *chip_data;
};
struct irq_cfg {
	unsigned int vector;
};
struct irq_fwspec {
	struct fwnode_handle *fwnode;
	int param_count;
	u32 param[2];
};
struct irq_alloc_info {
	const struct cpumask *mask;
};
struct irq_chip {
	const char *name;
	void *irq_ack, *irq_retrigger;
	int (*irq_set_affinity)(struct irq_data *data, const struct cpumask *mask, bool force);
	int flags;
};
struct irq_domain_ops {
	int (*translate)(struct irq_domain *domain, struct irq_fwspec *fwspec,
			 unsigned long *number, unsigned int *type);
	int (*alloc)(struct irq_domain *domain, unsigned int irq, unsigned int count, void *arg);
	void *free;
};
/* Only these are called here: the doorbells of all LWK CPUs go to CPU 0, which has one vector. */
#define MODEL_LINUX_APICID 100
int request_irq(unsigned int irq, irqreturn_t (*handler)(int irq, void *data), unsigned long flags,
		const char *name, void *data);
#define irq_create_fwspec_mapping(fwspec) ((fwspec)->param_count - 1)
struct irq_data *irq_get_irq_data(unsigned int irq);
struct irq_cfg *irqd_cfg(struct irq_data *data);
#define irq_data_get_effective_affinity_mask(data) ((const struct cpumask *)(data))
#define cpumask_first(mask) ((void)(mask), 0U)
#define nr_cpu_ids 1U
#define per_cpu(variable, cpu) MODEL_LINUX_APICID
#define irq_data_get_irq_chip_data(data) ((data)->chip_data)
#define irq_chip_set_affinity_parent(data, mask, force) ((void)(mask), (void)(force), 0)
#define irq_chip_ack_parent NULL
#define irq_chip_retrigger_hierarchy NULL
#define irq_domain_alloc_irqs_parent(domain, irq, count, info) ((void)(info), 0)
#define irq_domain_set_info(domain, irq, number, chip, data, handler, handler_data, name)          \
	((void)(chip))
#define irq_domain_free_irqs_common NULL
#define irq_domain_alloc_named_fwnode(name) ((struct fwnode_handle *)NULL)
#define irq_domain_free_fwnode(fwnode) ((void)0)
#define irq_domain_create_hierarchy(parent, flags, size, fwnode, ops, data)                        \
	((void)(ops), (struct irq_domain *)NULL)
#define irq_domain_remove(domain) ((void)(domain))
#define irq_set_chip_data(irq, data) ((void)0)
#define irq_dispose_mapping(irq) ((void)0)
#define free_irq(irq, data) ((void)0)

#define APIC_DM_FIXED 0
#define APIC_DEST_PHYSICAL 0
struct apic {
	void (*icr_write)(u32 low, u32 id);
};
extern const struct apic *const apic;
#define safe_apic_wait_icr_idle() ((void)0)
#define weak_wrmsr_fence() ((void)0)
#define local_irq_save(flags) ((void)((flags) = 0))
#define local_irq_restore(flags) ((void)(flags))

/* ---- what only has to have a size ---- */

struct device {
	int unused;
};
struct cdev {
	int unused;
};
struct kref {
	int count;
};
static inline void kref_get(struct kref *kref)
{
	__atomic_fetch_add(&kref->count, 1, __ATOMIC_SEQ_CST);
}
static inline void kref_put(struct kref *kref, void (*release)(struct kref *kref))
{
	if (__atomic_fetch_sub(&kref->count, 1, __ATOMIC_SEQ_CST) == 1)
		release(kref);
}
struct work_struct {
	int unused;
};
struct delayed_work {
	int work;
};
#define mod_delayed_work_on(cpu, queue, work, delay) ((void)(cpu), (void)(work), (void)(delay))
#define WORK_CPU_UNBOUND 0
struct xarray {
	int unused;
};
typedef struct {
	u32 value;
} kuid_t;
struct pid {
	int unused;
};
struct address_space {
	int unused;
};
struct mm_struct;
struct file;
struct kvec {
	void *iov_base;
	size_t iov_len;
};
#define files_lookup_fd_raw(files, fd) ((struct file *)NULL)
#define fput(file) ((void)(file))

#endif
