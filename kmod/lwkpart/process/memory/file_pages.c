// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An MMU notifier tells of each change of the proxy's page tables before it happens; Linux waits
 * until the LWK has let go of the pages. If an LWK does not answer, its pages stay pinned until its
 * CPUs have been stopped, so that nobody else gets the memory. The LWK's writes there are lost, so
 * the program is killed, and no program of the instance gets such pages any more.
 *
 * A page is never marked dirty here: the page fault that made it writable in the proxy has done so,
 * in the way that its file system wants, and Linux takes the page back before it calls it clean.
 */
#include "process/memory/file_pages.h"

#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "abi/shared/orders.h"
#include "process/memory/window.h"

#ifdef HAVE_MMU_INTERVAL_NOTIFIER

/* Pages that are written one after the other before more of them come at once. */
#define RUN_PAGES 8
/* Pages that are looked at or unpinned before other tasks may have the CPU. */
#define BATCH 512

struct file_pages {
	struct mmu_interval_notifier notifier;
	struct kref references;
	struct lwk_process *process;
	/*
	 * "run" counts the last pages to write that followed each other, "next" is the index
	 * behind.
	 */
	unsigned long run, next;
	/*
	 * Protects the rest. The notifier takes it while Linux looks for memory, so that nothing is
	 * allocated under it.
	 */
	struct mutex mutex;
	struct xarray pages; /* struct page by address / PAGE_SIZE */
	bool closed;
};

/* Unpins the pages of the range. The caller holds the mutex. */
static void unpin_range(struct file_pages *files, unsigned long first, unsigned long last)
{
	unsigned int done = 0;
	unsigned long index;
	struct page *page;

	xa_for_each_range(&files->pages, index, page, first, last)
	{
		xa_erase(&files->pages, index);
		unpin_user_page(page);
		if (++done % BATCH == 0)
			cond_resched();
	}
}

/*
 * Returns the index of the last page of [first, last] that the LWK has. There is one. Linux may name all
 * addresses, and the LWK walks its tables as far as it is asked. The caller holds the mutex.
 */
static unsigned long find_last(struct file_pages *files, unsigned long first, unsigned long last)
{
	unsigned long index, found = first;
	unsigned int done = 0;
	struct page *page;

	xa_for_each_range(&files->pages, index, page, first, last)
	{
		found = index;
		if (++done % BATCH == 0)
			cond_resched();
	}
	return found;
}

/* With the mutex held: has the LWK give the pages [first, last] back. */
static void revoke(struct file_pages *files, unsigned long first, unsigned long last)
{
	switch (window_revoke(files->process, first << PAGE_SHIFT,
			      (last - first + 1) << PAGE_SHIFT)) {
	case LWK_FAULT_READY:
		unpin_range(files, first, last);
		break;
	case LWK_FAULT_ASKED:
		files->closed = true;
		kill_pid(files->process->proxy, SIGKILL, 1);
		break;
	default:
		break; /* the process has ended */
	}
}

/* Linux is about to change its mappings of the range. */
static bool give_back(struct mmu_interval_notifier *notifier,
		      const struct mmu_notifier_range *range, unsigned long sequence)
{
	struct file_pages *files = container_of(notifier, struct file_pages, notifier);
	unsigned long first = range->start >> PAGE_SHIFT, last = (range->end - 1) >> PAGE_SHIFT;

	if (mmu_notifier_range_blockable(range))
		mutex_lock(&files->mutex);
	else if (!mutex_trylock(&files->mutex))
		return false;
	if (!files->closed && xa_find(&files->pages, &first, last, XA_PRESENT)) {
		if (!mmu_notifier_range_blockable(range)) {
			mutex_unlock(&files->mutex);
			return false;
		}
		revoke(files, first, find_last(files, first, last));
	}
	mmu_interval_set_seq(notifier, sequence);
	mutex_unlock(&files->mutex);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = give_back,
};

struct file_pages *file_pages_create(struct lwk_process *process)
{
	struct file_pages *files = kzalloc(sizeof(*files), GFP_KERNEL_ACCOUNT);

	if (!files)
		return NULL;
	kref_init(&files->references);
	mutex_init(&files->mutex);
	xa_init(&files->pages);
	files->process = process;
	if (mmu_interval_notifier_insert(&files->notifier, current->mm, LWK_USER_START,
					 LWK_USER_END - LWK_USER_START, &notifier_ops)) {
		kfree(files);
		return NULL;
	}
	return files;
}

struct file_pages *file_pages_get(struct file_pages *files)
{
	kref_get(&files->references);
	return files;
}

static void destroy(struct kref *references)
{
	struct file_pages *files = container_of(references, struct file_pages, references);

	mmu_interval_notifier_remove(&files->notifier);
	unpin_range(files, 0, ULONG_MAX);
	xa_destroy(&files->pages);
	kfree(files);
}

void file_pages_put(struct file_pages *files)
{
	if (files)
		kref_put(&files->references, destroy);
}

/* Threads that write at the same time only spoil each other's guess. */
unsigned long file_pages_ahead(struct file_pages *files, unsigned long index, unsigned long most)
{
	unsigned long run = READ_ONCE(files->next) == index ? READ_ONCE(files->run) : 0;
	unsigned long n = run < RUN_PAGES ? 1 : min(run, most);

	WRITE_ONCE(files->run, run + n);
	WRITE_ONCE(files->next, index + n);
	return n;
}

bool file_pages_begin(struct file_pages *files, unsigned long *begun)
{
	/* The notifier holds the structure, so no other memory map can have its address. */
	if (files->notifier.mm != current->mm)
		return false;
	*begun = mmu_interval_read_begin(&files->notifier);
	return true;
}

/* With the mutex held: returns how many of the pages the LWK may have. */
static long take_over(struct file_pages *files, unsigned long index, struct page **pages, long n)
{
	struct page *old;
	long i;

	for (i = 0; i < n; i++) {
		old = xa_load(&files->pages, index + i);
		/* The LWK did not give it back when it was asked to. */
		if (old && old != pages[i])
			break;
		/* One pin per page is enough. Room is reserved, so that nothing is allocated. */
		if (old)
			unpin_user_page(pages[i]);
		else if (xa_err(xa_store(&files->pages, index + i, pages[i], 0)))
			break;
	}
	return i ? i : -EFAULT;
}

long file_pages_add(struct file_pages *files, unsigned long begun, unsigned long index,
		    struct page **pages, long n, void (*publish)(void *argument, long n),
		    void *argument)
{
	long reserved = 0, taken;

	while (reserved < n && !xa_reserve(&files->pages, index + reserved, GFP_KERNEL_ACCOUNT))
		reserved++;
	mutex_lock(&files->mutex);
	if (files->closed || READ_ONCE(files->process->instance->keeps_pages))
		taken = -EFAULT;
	else if (mmu_interval_read_retry(&files->notifier, begun))
		taken = -EAGAIN;
	else
		taken = reserved ? take_over(files, index, pages, reserved) : -ENOMEM;
	if (taken > 0)
		publish(argument, taken);
	mutex_unlock(&files->mutex);
	while (reserved > 0)
		xa_release(&files->pages, index + --reserved);
	return taken;
}

void file_pages_unpin(struct file_pages *files, unsigned long first, unsigned long last)
{
	mutex_lock(&files->mutex);
	unpin_range(files, first, last);
	mutex_unlock(&files->mutex);
}

void file_pages_close(struct file_pages *files)
{
	mutex_lock(&files->mutex);
	files->closed = true;
	mutex_unlock(&files->mutex);
}

#else

/* Nothing tells reliably of a part of a memory map, so the LWK gets no pages of files on disks. */
struct file_pages *file_pages_create(struct lwk_process *process)
{
	return NULL;
}

struct file_pages *file_pages_get(struct file_pages *files)
{
	return files;
}

void file_pages_put(struct file_pages *files)
{
}

unsigned long file_pages_ahead(struct file_pages *files, unsigned long index, unsigned long most)
{
	return 1;
}

bool file_pages_begin(struct file_pages *files, unsigned long *begun)
{
	return false;
}

long file_pages_add(struct file_pages *files, unsigned long begun, unsigned long index,
		    struct page **pages, long n, void (*publish)(void *argument, long n),
		    void *argument)
{
	return -EFAULT;
}

void file_pages_unpin(struct file_pages *files, unsigned long first, unsigned long last)
{
}

void file_pages_close(struct file_pages *files)
{
}

#endif
