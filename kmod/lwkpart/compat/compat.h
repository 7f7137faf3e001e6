/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This header hides what differs between kernels: the module's sources use the newest kernel's
 * interface, or a function of this header. Each HAVE_ says that this kernel compiles the file of
 * that name in kmod/tries/: versions tell nothing, because vendors backport.
 */
#ifndef COMPAT_H
#define COMPAT_H

#ifdef __ASSEMBLY__

#ifdef HAVE_UNWIND_HINT_UNDEFINED
#define COMPAT_HINT_NO_STACK UNWIND_HINT_UNDEFINED
#else
#define COMPAT_HINT_NO_STACK UNWIND_HINT_EMPTY
#endif

#ifndef SYM_CODE_START_NOALIGN
#define SYM_CODE_START_NOALIGN(name)                                                               \
	.globl name;                                                                               \
	name:
#define SYM_CODE_END(name) END(name)
#endif

#else

#include <linux/device.h>
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/fsnotify.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/mm.h>
#include <linux/module.h>
#ifdef HAVE_CC_PLATFORM
#include <linux/cc_platform.h>
#else
#include <linux/mem_encrypt.h>
#endif
#ifdef HAVE_PANIC_NOTIFIER
#include <linux/panic_notifier.h>
#endif

#include "compat/older.h"

/* A large variable that is written before it is read: clearing it would cost more than the rest. */
#if __has_attribute(__uninitialized__)
#define COMPAT_NOT_CLEARED __attribute__((__uninitialized__))
#else
#define COMPAT_NOT_CLEARED
#endif

static inline bool compat_memory_is_encrypted(void)
{
#ifdef HAVE_CC_PLATFORM
	return cc_platform_has(CC_ATTR_MEM_ENCRYPT);
#else
	return mem_encrypt_active();
#endif
}

#ifndef HAVE_RDMSRQ
#define rdmsrq rdmsrl
#define native_wrmsrq native_wrmsrl
#endif

/* Lets an interrupt's vector change when it is asked for, not at the next interrupt. */
static inline void compat_let_move_at_once(unsigned int irq)
{
#ifdef HAVE_IRQ_MOVE_PCNTXT
	irq_set_status_flags(irq, IRQ_MOVE_PCNTXT);
#endif
}

/*
 * Kernels that lack irq_set_affinity_and_hint() export no function that sets the affinity alone, so
 * the hint sets it and goes again.
 */
static inline int compat_irq_set_affinity(unsigned int irq, const struct cpumask *mask)
{
#ifdef HAVE_IRQ_SET_AFFINITY_AND_HINT
	return irq_set_affinity(irq, mask);
#else
	int error = irq_set_affinity_hint(irq, mask);

	irq_set_affinity_hint(irq, NULL);
	return error;
#endif
}

/* Not 0: Linux does more on the way into a system call of the task, or out of it. */
static inline unsigned long compat_syscall_work(struct task_struct *task)
{
#ifdef HAVE_SYSCALL_WORK
	return READ_ONCE(task_thread_info(task)->syscall_work);
#else
	return READ_ONCE(task_thread_info(task)->flags) & (SYSCALL_ENTER_WORK | SYSCALL_EXIT_WORK);
#endif
}

/* Returns the flags of a struct kiocb for the file. */
static inline int compat_iocb_flags(struct file *file)
{
#ifdef HAVE_F_IOCB_FLAGS
	return file->f_iocb_flags;
#else
	return iocb_flags(file);
#endif
}

/*
 * Returns the file in an entry of a table of descriptors, with a reference; or NULL. With
 * rcu_read_lock().
 */
static inline struct file *compat_get_file(struct file __rcu **entry)
{
#ifdef HAVE_GET_FILE_RCU_OF_ENTRY
	return get_file_rcu(entry);
#else
	struct file *file = rcu_dereference(*entry);

	if (!file || !get_file_rcu(file))
		return NULL;
	/* Somebody has closed the descriptor meanwhile. */
	if (file != rcu_access_pointer(*entry)) {
		fput(file);
		return NULL;
	}
	return file;
#endif
}

/*
 * True when a program that listens by fanotify(7) may decide whether the file may be read. Older
 * kernels tell only whether any program listens to anything on the file system, those before 5.15
 * nothing.
 */
static inline bool compat_asks_listener(const struct file *file)
{
#if defined(HAVE_FSNOTIFY_SB_HAS_PRIORITY_WATCHERS)
	return fsnotify_sb_has_priority_watchers(file_inode(file)->i_sb, FSNOTIFY_PRIO_CONTENT);
#elif !defined(CONFIG_FANOTIFY_ACCESS_PERMISSIONS)
	return false;
#elif defined(HAVE_FSNOTIFY_CONNECTORS)
	return atomic_long_read(&file_inode(file)->i_sb->s_fsnotify_connectors);
#else
	return true;
#endif
}

/* The times at which the file was last read and written. */
static inline struct timespec64 compat_atime(const struct inode *inode)
{
#ifdef HAVE_INODE_GET_ATIME
	return inode_get_atime(inode);
#else
	return inode->i_atime;
#endif
}

static inline struct timespec64 compat_mtime(const struct inode *inode)
{
#ifdef HAVE_INODE_GET_ATIME
	return inode_get_mtime(inode);
#else
	return inode->i_mtime;
#endif
}

/* The time at which the file was last changed in any way. */
static inline struct timespec64 compat_ctime(const struct inode *inode)
{
#ifdef HAVE_INODE_GET_CTIME
	return inode_get_ctime(inode);
#else
	return inode->i_ctime;
#endif
}

#ifndef HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* The operation mremap of mappings that stay where they are. */
#ifdef HAVE_MREMAP_WITH_FLAGS
static inline int compat_refuse_mremap(struct vm_area_struct *vma, unsigned long flags)
#else
static inline int compat_refuse_mremap(struct vm_area_struct *vma)
#endif
{
	return -EINVAL;
}

static inline struct class *compat_class_create(const char *name)
{
#ifdef HAVE_CLASS_CREATE_WITH_OWNER
	return class_create(THIS_MODULE, name);
#else
	return class_create(name);
#endif
}

/* The devnode operation of a device_type gets a device of this type. */
#ifdef HAVE_DEVNODE_OF_CONST_DEVICE
typedef const struct device compat_devnode_device;
#else
typedef struct device compat_devnode_device;
#endif

static inline long compat_pin_user_pages(unsigned long start, unsigned long count,
					 unsigned int flags, struct page **pages)
{
#if defined(HAVE_PIN_USER_PAGES_WITH_VMAS)
	return pin_user_pages(start, count, flags, pages, NULL);
#elif !defined(HAVE_PIN_USER_PAGES)
	return get_user_pages(start, count, flags, pages, NULL);
#else
	return pin_user_pages(start, count, flags, pages);
#endif
}

/*
 * True when Linux may be made to turn round with a CPU that comes on-line. Before the scheduler
 * could wait until a CPU is empty, Linux went on taking it down even if the CPU refused to leave.
 */
static inline bool compat_cpu_turns_round(void)
{
#ifdef HAVE_CPUHP_WAITS_UNTIL_EMPTY
	return true;
#else
	return false;
#endif
}

#ifndef HAVE_SYSTEM_PERCPU_WQ
#define system_percpu_wq system_wq
#endif

#ifndef HAVE_ZAP_SPECIAL_VMA_RANGE
#define zap_special_vma_range zap_vma_ptes
#endif

#if defined(HAVE_ALLOC_PAGES_BULK_ARRAY_NODE)
#define alloc_pages_bulk_node alloc_pages_bulk_array_node
#elif !defined(HAVE_ALLOC_PAGES_BULK_NODE)
static inline unsigned long alloc_pages_bulk_node(gfp_t gfp, int node, unsigned long count,
						  struct page **pages)
{
	unsigned long got = 0;

	while (got < count && (pages[got] = alloc_pages_node(node, gfp, 0)))
		got++;
	return got;
}
#endif

/* Without folios a function of a folio is that of its first page. */
#ifndef HAVE_FOLIO
#define page_folio compound_head
#define folio_mapped page_mapped
#define folio_set_young set_page_young
#define folio_test_ksm PageKsm
#define folio_test_mlocked PageMlocked
#endif

/* True when more than one mapping has the page; newer kernels estimate it for large folios. */
static inline bool compat_is_mapped_by_several(struct page *page)
{
#if defined(HAVE_PAGE_MAPCOUNT)
	return page_mapcount(page) > 1;
#elif defined(HAVE_FOLIO_LIKELY_MAPPED_SHARED)
	return folio_likely_mapped_shared(page_folio(page));
#else
	return folio_maybe_mapped_shared(page_folio(page));
#endif
}

/* The function that Linux calls for each entry of a page table; older kernels tell it the table, too. */
#ifdef HAVE_PTE_FN_WITH_TOKEN
#define COMPAT_PTE_FN(name, pte, address, data)                                                    \
	name(pte_t *pte, pgtable_t table, unsigned long address, void *data)
#else
#define COMPAT_PTE_FN(name, pte, address, data) name(pte_t *pte, unsigned long address, void *data)
#endif

static inline void compat_eventfd_signal(struct eventfd_ctx *eventfd)
{
#ifdef HAVE_EVENTFD_SIGNAL_WITH_COUNT
	eventfd_signal(eventfd, 1);
#else
	eventfd_signal(eventfd);
#endif
}

#endif

#endif
