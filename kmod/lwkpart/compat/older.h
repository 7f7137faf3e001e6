/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that Linux has only since some release after 4.18, on which vendors build kernels to
 * this day. Each has the newest kernel's name and meaning, and its own try in kmod/tries/, because
 * vendors take functions into their kernels one by one.
 */
#ifndef COMPAT_OLDER_H
#define COMPAT_OLDER_H

#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/irq.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/xarray.h>
#ifdef HAVE_ENTRY_COMMON
#include <linux/entry-common.h>
#endif
#ifdef HAVE_TRAPNR
#include <asm/trapnr.h>
#else
#include <asm/traps.h>
#endif

#ifndef SYSCALL_ENTER_WORK
#define SYSCALL_ENTER_WORK _TIF_WORK_SYSCALL_ENTRY
#endif
#ifndef SYSCALL_EXIT_WORK
#define SYSCALL_EXIT_WORK                                                                          \
	(_TIF_SYSCALL_TRACE | _TIF_SYSCALL_AUDIT | _TIF_SINGLESTEP | _TIF_SYSCALL_TRACEPOINT)
#endif

#ifndef static_assert
#define static_assert(expression) _Static_assert(expression, #expression)
#endif

#ifndef data_race
#define data_race(expression) (expression)
#endif

#ifndef pud_leaf
#define pud_leaf pud_large
#endif
#ifndef pmd_leaf
#define pmd_leaf pmd_large
#endif

/* Files on these kernels do not tell that they have no position. */
#ifndef FMODE_STREAM
#define FMODE_STREAM 0
#endif
/* Only vfs_iocb_iter_read() has a use for it. */
#ifndef IOCB_NOIO
#define IOCB_NOIO 0
#endif
#ifndef FOLL_LONGTERM
#define FOLL_LONGTERM 0
#endif

#ifndef xa_for_each_range
#define xa_for_each_range(xa, index, entry, first, last)                                           \
	for (index = (first), entry = xa_find(xa, &index, last, XA_PRESENT); entry;                \
	     entry = xa_find_after(xa, &index, last, XA_PRESENT))
#endif

#ifndef HAVE_MUL_U64_U64_DIV_U64
/* The quotient must be below 2^64. */
static inline u64 mul_u64_u64_div_u64(u64 a, u64 factor, u64 divisor)
{
	u64 quotient, rest;

	asm("mulq %3\n\tdivq %4"
	    : "=a"(quotient), "=&d"(rest)
	    : "0"(a), "rm"(factor), "rm"(divisor)
	    : "cc");
	return quotient;
}
#endif

#ifndef HAVE_LIST_ROTATE_TO_FRONT
static inline void list_rotate_to_front(struct list_head *entry, struct list_head *head)
{
	list_move_tail(head, entry);
}
#endif

#ifndef HAVE_WEAK_WRMSR_FENCE
static inline void weak_wrmsr_fence(void)
{
	asm volatile("mfence; lfence" : : : "memory");
}
#endif

#ifndef HAVE_COPY_MC_TO_KERNEL
static inline unsigned long copy_mc_to_kernel(void *to, const void *from, size_t size)
{
	return memcpy_mcsafe(to, from, size);
}
#endif

#ifndef HAVE_ADD_CPU
/* Linux's own device of the CPU knows whether the CPU is on-line, and tells user space. */
static inline int compat_switch_cpu(unsigned int cpu, bool offline)
{
	struct device *device = get_cpu_device(cpu);
	int error;

	device_lock(device);
	error = device->offline == offline ? 1 : offline ? cpu_down(cpu) : cpu_up(cpu);
	if (!error) {
		device->offline = offline;
		kobject_uevent(&device->kobj, offline ? KOBJ_OFFLINE : KOBJ_ONLINE);
	}
	device_unlock(device);
	return error;
}

static inline int remove_cpu(unsigned int cpu)
{
	return compat_switch_cpu(cpu, true);
}

static inline int add_cpu(unsigned int cpu)
{
	return compat_switch_cpu(cpu, false);
}
#endif

#ifndef HAVE_FILES_LOOKUP_FD_RAW
static inline struct file *files_lookup_fd_raw(struct files_struct *files, unsigned int fd)
{
	return __fcheck_files(files, fd);
}
#endif

/* Without these functions, proxies read and write all files. */
#ifndef HAVE_VFS_IOCB_ITER_READ
static inline ssize_t vfs_iocb_iter_read(struct file *file, struct kiocb *kiocb,
					 struct iov_iter *iter)
{
	return -EAGAIN;
}

static inline ssize_t vfs_iocb_iter_write(struct file *file, struct kiocb *kiocb,
					  struct iov_iter *iter)
{
	return -EAGAIN;
}
#endif

#ifndef HAVE_MMAP_LOCK
static inline int mmap_read_lock_killable(struct mm_struct *mm)
{
	return down_read_killable(&mm->mmap_sem);
}

static inline bool mmap_read_trylock(struct mm_struct *mm)
{
	return down_read_trylock(&mm->mmap_sem);
}

static inline void mmap_read_unlock(struct mm_struct *mm)
{
	up_read(&mm->mmap_sem);
}
#endif

#ifndef HAVE_VMF_INSERT_PFN_PROT
static inline vm_fault_t vmf_insert_pfn_prot(struct vm_area_struct *vma, unsigned long address,
					     unsigned long pfn, pgprot_t prot)
{
	int error = vm_insert_pfn_prot(vma, address, pfn, prot);

	if (error && error != -EBUSY)
		return error == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
	return VM_FAULT_NOPAGE;
}
#endif

/* A page that is pinned differs from one with a reference only in newer kernels. */
#ifndef HAVE_PIN_USER_PAGES
static inline void unpin_user_page(struct page *page)
{
	put_page(page);
}

static inline void unpin_user_pages_dirty_lock(struct page **pages, unsigned long n, bool dirty)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		if (dirty)
			set_page_dirty_lock(pages[i]);
		put_page(pages[i]);
	}
}
#endif

/*
 * Finds functions that the kernel does not export, before any of them is used: 0, or -ENOENT, of which
 * the kernel's log tells.
 */
int compat_find_functions(void);

#ifndef HAVE_EXPORTED_FREE_CONTIG_RANGE
extern int (*compat_alloc_contig_range)(unsigned long start, unsigned long end, unsigned int type,
					gfp_t gfp);
extern void (*compat_free_contig_range)(unsigned long first, unsigned int n);
#define alloc_contig_range compat_alloc_contig_range
#define free_contig_range compat_free_contig_range
#endif

#ifndef HAVE_EXPORTED_MEMORY_BLOCK_SIZE_BYTES
extern unsigned long (*compat_memory_block_size_bytes)(void);
#define memory_block_size_bytes compat_memory_block_size_bytes
#endif

#ifndef HAVE_EXPORTED_IRQ_CHIP_RETRIGGER_HIERARCHY
static inline int compat_irq_chip_retrigger_hierarchy(struct irq_data *data)
{
	for (data = data->parent_data; data; data = data->parent_data) {
		if (data->chip && data->chip->irq_retrigger)
			return data->chip->irq_retrigger(data);
	}
	return 0;
}
#define irq_chip_retrigger_hierarchy compat_irq_chip_retrigger_hierarchy
#endif

/* Counts a page that the memory map has pinned, and returns how many it has. */
static inline s64 compat_pinned_inc(struct mm_struct *mm)
{
#ifdef HAVE_PINNED_VM_ATOMIC
	return atomic64_inc_return(&mm->pinned_vm);
#else
	return __atomic_add_fetch(&mm->pinned_vm, 1, __ATOMIC_RELAXED);
#endif
}

static inline void compat_pinned_dec(struct mm_struct *mm)
{
#ifdef HAVE_PINNED_VM_ATOMIC
	atomic64_dec(&mm->pinned_vm);
#else
	__atomic_sub_fetch(&mm->pinned_vm, 1, __ATOMIC_RELAXED);
#endif
}

#endif
