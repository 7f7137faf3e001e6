// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The WINDOW maps the LWK process's memory into its proxy. When the proxy touches a page that the
 * LWK has not made yet, the LWK is asked for it through struct lwk_control.
 *
 * Nothing that the LWK or the user wrote is trusted: view.c finds the pages.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "process/memory/window.h"

#include <linux/file.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "abi/device/device.h"
#include "abi/shared/orders.h"
#include "compat/compat.h"
#include "process/memory/question.h"
#include "process/memory/view.h"

/* The most times that the LWK is asked for one page. */
#define ASK_TIMES 3
/*
 * The most times that a page is hidden for one question, QUESTION_SECONDS at most: another thread
 * may look at it again and again.
 */
#define HIDE_TIMES 1000
/*
 * An answer that takes SLOW_ANSWER keeps Linux's own threads from their work. All such answers together
 * may take MOST_SLOW, and on top of that one SLOW_SHARE-th of the time that passes.
 */
#define SLOW_ANSWER (HZ / 2)
#define MOST_SLOW (2 * QUESTION_SECONDS * HZ)
#define SLOW_SHARE 10
/*
 * The numbers of pages to show around one that is written or read; powers of two. Writes mostly
 * fill a buffer or load a program; reads mostly fetch a path or an argument.
 */
#define SHOW_WRITTEN 64
#define SHOW_READ 8

/*
 * Maps the page at addr into the proxy. VM_FAULT_RETRY: the LWK must be asked for it first. A page
 * that nobody has 'asked' for stays hidden when the LWK will soon want it back.
 */
static vm_fault_t show(struct lwk_process *process, struct vm_area_struct *vma, unsigned long addr,
		       bool write, bool asked)
{
	struct instance *instance = process->instance;
	struct view view;
	u64 phys;
	pgprot_t prot;

	if (!view_find(instance, process->first.slot, addr, &view) ||
	    (write && !(view.value & _PAGE_RW)))
		return VM_FAULT_RETRY;
	if (!asked && view.value & LWK_PTE_COPY)
		return VM_FAULT_NOPAGE;
	phys = view_phys(&view, addr) & PAGE_MASK;
	if (!view_in_user_pool(instance, phys, PAGE_SIZE))
		return VM_FAULT_SIGSEGV;
	/* If the LWK changes the entry meanwhile, the fault is repeated. */
	if (!view_mark_seen(&view))
		return VM_FAULT_NOPAGE;
	prot = vm_get_page_prot(view.value & _PAGE_RW ? VM_READ | VM_WRITE | VM_SHARED
						      : VM_READ | VM_SHARED);
	return vmf_insert_pfn_prot(vma, addr, phys >> PAGE_SHIFT, prot);
}

/* Maps the neighbours of addr that exist: a system call rarely touches one page only. */
static void show_around(struct lwk_process *process, struct vm_area_struct *vma, unsigned long addr,
			bool write)
{
	unsigned long bytes = (write ? SHOW_WRITTEN : SHOW_READ) * PAGE_SIZE;
	unsigned long first = addr & ~(bytes - 1), a;

	for (a = first; a < first + bytes; a += PAGE_SIZE)
		if (a != addr && a >= vma->vm_start && a < vma->vm_end &&
		    show(process, vma, a, false, false) != VM_FAULT_NOPAGE)
			break;
}

/* Takes 'shown' for writing; what is known of the process's pages is true no longer. */
static void start_hiding(struct lwk_process *process)
{
	down_write(&process->shown);
	process->hidings++;
}

/* Takes the large page around addr out of the proxy's sight, and tells the LWK so. */
static void hide_around(struct lwk_process *process, unsigned long addr)
{
	struct instance *instance = process->instance;
	unsigned long start = max(addr & PMD_MASK, LWK_USER_START);
	unsigned long end = (addr & PMD_MASK) + PMD_SIZE, at;
	struct view view;

	down_read(&instance->rwsem);
	start_hiding(process);
	unmap_mapping_range(&process->mapping, LWK_MMAP_WINDOW + start - LWK_USER_START,
			    end - start, 1);
	for (at = start; at < end && has_slot(&process->first) && !process->hidden; at += PAGE_SIZE)
		/*
		 * An entry that the LWK changes meanwhile keeps its mark, which does no harm. Tables that
		 * the LWK has taken back from a proxy that lies about its UNMAP can have anything in them.
		 */
		if (view_find(instance, process->first.slot, at, &view) &&
		    view.value & LWK_PTE_SEEN_BY_LINUX &&
		    view_in_user_pool(instance, view_phys(&view, at) & PAGE_MASK, PAGE_SIZE))
			cmpxchg(view.entry, view.value, view.value & ~LWK_PTE_SEEN_BY_LINUX);
	up_write(&process->shown);
	up_read(&instance->rwsem);
}

/* Asks the slot that the caller serves for the page at addr once, and returns its answer. */
static u32 ask_once(struct lwk_process *process, unsigned long addr, bool write)
{
	struct lwk_thread *thread = thread_of_caller(process);
	u32 state;

	if (mutex_lock_killable(&thread->fault_mutex))
		return LWK_FAULT_REFUSED;
	state = question_put(thread, write ? LWK_FAULT_WRITE : LWK_FAULT_READ, addr, PAGE_SIZE,
			     true);
	mutex_unlock(&thread->fault_mutex);
	return state;
}

/* Asks the slot that the caller serves for the page at addr. True when the LWK has made it. */
static bool ask(struct lwk_process *process, unsigned long addr, bool write)
{
	unsigned long until = jiffies + QUESTION_SECONDS * HZ;
	unsigned int times = 0;
	u32 state;

	/* Hiding may wait for window_revoke(), which takes the fault_mutex. */
	while ((state = ask_once(process, addr, write)) == LWK_FAULT_HIDE && ++times < HIDE_TIMES &&
	       time_before(jiffies, until) && !fatal_signal_pending(current))
		hide_around(process, addr);
	return state == LWK_FAULT_READY;
}

/* True while the LWK has the thread, and is to answer. */
static bool may_answer(struct lwk_thread *thread)
{
	bool may;

	spin_lock(&thread->lock);
	may = thread->channel && state_has_processes(READ_ONCE(thread->process->instance->state));
	spin_unlock(&thread->lock);
	return may;
}

/* Counts a wait that began then. False: the instance has kept Linux's threads for too long in all. */
static bool is_bearable(struct instance *instance, unsigned long start)
{
	unsigned long now = jiffies, debt = READ_ONCE(instance->slow.debt), paid;

	if (now - start < SLOW_ANSWER)
		return true;
	paid = (now - READ_ONCE(instance->slow.counted)) / SLOW_SHARE;
	debt = debt - min(debt, paid) + now - start;
	/* Threads may count at the same time; then one wait is left out. */
	WRITE_ONCE(instance->slow.counted, now);
	WRITE_ONCE(instance->slow.debt, debt);
	return debt < MOST_SLOW;
}

/* Has the LWK let go: READY; REFUSED: it has not got the process any more; ASKED: it does not. */
static u32 revoke(struct lwk_thread *thread, unsigned long addr, unsigned long size)
{
	u32 state = question_put(thread, LWK_FAULT_REVOKE, addr, size, false);

	if (state == LWK_FAULT_READY)
		return state;
	/* An LWK that answers anything else keeps the pages. */
	return may_answer(thread) ? LWK_FAULT_ASKED : LWK_FAULT_REFUSED;
}

enum lwk_fault_state window_revoke(struct lwk_process *process, unsigned long addr,
				   unsigned long size)
{
	struct instance *instance = process->instance;
	struct lwk_thread *thread = &process->first;
	u32 state = LWK_FAULT_ASKED;
	bool bearable = true;
	unsigned long start;

	mutex_lock(&thread->fault_mutex);
	start = jiffies;
	if (!READ_ONCE(instance->keeps_pages)) {
		state = revoke(thread, addr, size);
		bearable = is_bearable(instance, start);
	}
	if ((state == LWK_FAULT_ASKED || !bearable) && !xchg(&instance->keeps_pages, true))
		pr_err("the LWK of job %u (instance %u) keeps pages of files that Linux wants back: expected each within %u s, found %s; its programs that have such pages are killed, and may have lost what they wrote last\n",
		       instance->job_id, instance->id, QUESTION_SECONDS,
		       bearable ? "one kept" : "many of them late");
	mutex_unlock(&thread->fault_mutex);
	return state;
}

/*
 * Notes that pages of these 2 MB are shown, for window_unmap(). False: there is no memory for it.
 */
static bool remember_part(struct lwk_process *process, unsigned long addr)
{
	unsigned long part = addr >> PMD_SHIFT;

	return xa_load(&process->shown_parts, part) ||
	       !xa_err(xa_store(&process->shown_parts, part, xa_mk_value(0), GFP_KERNEL_ACCOUNT));
}

/* Maps a page and its neighbours into the proxy. VM_FAULT_RETRY: the LWK must be asked for it. */
static vm_fault_t show_pages(struct lwk_process *process, struct vm_area_struct *vma,
			     unsigned long addr, bool write)
{
	struct instance *instance = process->instance;
	vm_fault_t result = VM_FAULT_SIGBUS;

	down_read(&instance->rwsem);
	down_read(&process->shown);
	if (has_slot(&process->first) && !process->hidden) {
		result = remember_part(process, addr) ? show(process, vma, addr, write, true)
						      : VM_FAULT_OOM;
		if (result == VM_FAULT_NOPAGE)
			show_around(process, vma, addr, write);
	}
	up_read(&process->shown);
	up_read(&instance->rwsem);
	return result;
}

/* Asks with mmap_lock held, for a caller that cannot repeat the fault. */
static vm_fault_t ask_and_show(struct lwk_process *process, struct vm_area_struct *vma,
			       unsigned long addr, bool write)
{
	vm_fault_t result = VM_FAULT_RETRY;
	unsigned int i;

	for (i = 0; i < ASK_TIMES && result == VM_FAULT_RETRY; i++) {
		if (!ask(process, addr, write))
			break;
		result = show_pages(process, vma, addr, write);
	}
	return result == VM_FAULT_RETRY ? VM_FAULT_SIGSEGV : result;
}

/*
 * Asks without mmap_lock, which others need meanwhile; the fault is repeated afterwards. It must
 * not be repeated for ever: thread->asked counts for the page that was asked for last.
 */
static vm_fault_t ask_unlocked(struct vm_fault *vmf, struct lwk_process *process,
			       unsigned long addr, bool write)
{
	struct lwk_thread *thread = thread_of_caller(process);
	struct vm_area_struct *vma = vmf->vma;
	unsigned int times = 0;
	struct file *file;

	if (vmf->flags & FAULT_FLAG_TRIED && READ_ONCE(thread->asked.addr) == addr)
		times = READ_ONCE(thread->asked.times);
	if (times >= ASK_TIMES)
		return VM_FAULT_SIGSEGV;
	/* The mapping may go as soon as the lock is given back; the file keeps the process. */
	file = get_file(vma->vm_file);
	mmap_read_unlock(vma->vm_mm);
	times = ask(process, addr, write) ? times + 1 : ASK_TIMES;
	WRITE_ONCE(thread->asked.addr, addr);
	WRITE_ONCE(thread->asked.times, times);
	fput(file);
	return VM_FAULT_RETRY;
}

static vm_fault_t window_fault(struct vm_fault *vmf)
{
	struct lwk_process *process = vmf->vma->vm_private_data;
	unsigned long addr = vmf->address & PAGE_MASK;
	bool write = vmf->flags & FAULT_FLAG_WRITE;
	vm_fault_t result = show_pages(process, vmf->vma, addr, write);

	if (result != VM_FAULT_RETRY)
		return result;
	if (!(vmf->flags & FAULT_FLAG_ALLOW_RETRY))
		return ask_and_show(process, vmf->vma, addr, write);
	if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_RETRY;
	return ask_unlocked(vmf, process, addr, write);
}

/*
 * A write to a page that is mapped read-only, as it is or was in the LWK. The fault is repeated
 * without the page, so that window_fault() looks at what it is now: Linux would make writable what
 * is mapped there when this returns, which may be a page that the process shares with a child since.
 */
static vm_fault_t window_write(struct vm_fault *vmf)
{
	zap_special_vma_range(vmf->vma, vmf->address & PAGE_MASK, PAGE_SIZE);
	return VM_FAULT_NOPAGE;
}

/* Something else was mapped in the middle of the window, which becomes two parts. */
static void window_open(struct vm_area_struct *vma)
{
	struct lwk_process *process = vma->vm_private_data;

	charge_open(&process->first.charge, vma->vm_mm);
}

static void window_close(struct vm_area_struct *vma)
{
	struct lwk_process *process = vma->vm_private_data;

	/* The last chance to charge the memory of a short program, for wait4(2) of its proxy. */
	down_read(&process->instance->rwsem);
	if (vma->vm_mm == current->mm && has_slot(&process->first))
		charge_memory(process->instance, process->first.slot, &process->first.charge);
	up_read(&process->instance->rwsem);
	charge_close(&process->first.charge, vma->vm_mm);
}

static const struct vm_operations_struct window_ops = {
	.open = window_open,
	.close = window_close,
	.fault = window_fault,
	.pfn_mkwrite = window_write,
	/* Pages are hidden by their place in the file, and shown by their address. */
	.mremap = compat_refuse_mremap,
};

static bool is_window(const struct vm_area_struct *vma, u64 offset)
{
	return vma->vm_start >= LWK_USER_START && vma->vm_end <= LWK_USER_END &&
	       offset == LWK_MMAP_WINDOW + vma->vm_start - LWK_USER_START;
}

int window_attach(struct lwk_process *process, struct vm_area_struct *vma, u64 offset)
{
	if (process->first.slot < 0 || !is_window(vma, offset))
		return -EINVAL;
	vma->vm_private_data = process;
	vma->vm_ops = &window_ops;
	charge_open(&process->first.charge, vma->vm_mm);
	return 0;
}

void window_hide(struct lwk_process *process)
{
	start_hiding(process);
	process->hidden = true;
	up_write(&process->shown);
	unmap_mapping_range(&process->mapping, 0, 0, 1);
}

void window_show(struct lwk_process *process)
{
	down_write(&process->shown);
	process->hidden = false;
	up_write(&process->shown);
}

/* With mmap_lock, and with 'shown' held for writing. */
static void unmap_part(struct lwk_process *process, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma;
	unsigned long at;

	for (at = start; at < end && (vma = find_vma(current->mm, at)); at = vma->vm_end) {
		if (vma->vm_start >= end)
			break;
		if (vma->vm_ops != &window_ops || vma->vm_private_data != process)
			continue;
		at = max(at, vma->vm_start);
		zap_special_vma_range(vma, at, min(end, vma->vm_end) - at);
	}
}

long window_unmap(struct lwk_process *process, const struct lwk_unmap *range)
{
	unsigned long part, end = range->start + range->size;
	void *entry;

	if (process->first.slot < 0 || !PAGE_ALIGNED(range->start) || !PAGE_ALIGNED(range->size) ||
	    !range->size || range->size > LWK_USER_END || range->start > LWK_USER_END - range->size)
		return -EINVAL;
	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	/* A fault that is about to map a page may have read its entry before this request. */
	start_hiding(process);
	xa_for_each_range(&process->shown_parts, part, entry, range->start >> PMD_SHIFT,
			  (end - 1) >> PMD_SHIFT)
	{
		unsigned long from = part << PMD_SHIFT, to = from + PMD_SIZE;

		unmap_part(process, max_t(unsigned long, from, range->start), min(to, end));
		if (range->start <= from && to <= end)
			xa_erase(&process->shown_parts, part);
	}
	up_write(&process->shown);
	mmap_read_unlock(current->mm);
	return 0;
}
