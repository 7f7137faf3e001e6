// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pages that LWK processes share with others (struct lwk_grant): an LWK process gets the pages that
 * its proxy has mapped shared at the same address, with the proxy's rights.
 *
 * Pages of tmpfs are pinned for long (shm_open(3), memfd_create(2), shared anonymous memory): they
 * are nothing but memory, charged to the cgroup that made them. Other file systems must know when a
 * page is written to; they get theirs back whenever they want (file_pages.h), so that the pages
 * count as no pinned ones, and are writable only once the LWK writes to them.
 *
 * Pages that are pinned for long count in the pinned_vm of the proxy's memory map. RLIMIT_MEMLOCK
 * bounds them, as those of other drivers, but not below the size of the partition: programs that
 * share memory work with the small limit that distributions set, and a job can pin about as much
 * memory as it has got anyway.
 *
 * A page stays pinned until the LWK says that it no longer uses it; at the end of the process,
 * until its slots have let go; and if they do not, until their CPUs have been stopped.
 */
#include "process/memory/grant.h"

#include <linux/capability.h>
#include <linux/io.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "abi/device/serve.h"
#include "abi/shared/grant.h"
#include "compat/compat.h"
#include "process/memory/file_pages.h"

/* A page that another process has pinned for a moment cannot be moved to where it may stay. */
#define PIN_TRIES 50
/* Pages that are unpinned before other tasks may have the CPU. */
#define UNPIN_BATCH 512

struct grants {
	struct list_head link; /* instance->stranded */
	struct mm_struct *mm;  /* whose pinned_vm counts the pages; NULL: no page yet */
	/* struct page by address / PAGE_SIZE; tag 1: the LWK may write to it. */
	struct xarray pages;
	struct file_pages *files; /* NULL: none yet */
};

/* A request of the LWK, copied to where the LWK cannot change it. */
struct grant_request {
	unsigned int order, access;
	u64 start, count;
	unsigned int generation; /* grants_generation at that time; another one makes it void */
	/* The other members describe the pages that are pinned for the request. */
	bool writable;
	bool on_disk;
	struct file_pages *files; /* NULL: not needed yet */
	unsigned long begun;	  /* file_pages_begin() */
};

static struct grants *alloc(void)
{
	struct grants *grants = kzalloc(sizeof(*grants), GFP_KERNEL_ACCOUNT);

	if (grants)
		xa_init(&grants->pages);
	return grants;
}

int grants_create(struct lwk_process *process)
{
	mutex_init(&process->grants_mutex);
	process->grants = alloc();
	return process->grants ? 0 : -ENOMEM;
}

static void unpin(void *entry)
{
	struct page *page = xa_untag_pointer(entry);

	unpin_user_pages_dirty_lock(&page, 1, xa_pointer_tag(entry));
}

static void unpin_range(struct grants *grants, unsigned long first, unsigned long last)
{
	unsigned int done = 0;
	unsigned long index;
	void *entry;

	xa_for_each_range(&grants->pages, index, entry, first, last)
	{
		xa_erase(&grants->pages, index);
		unpin(entry);
		compat_pinned_dec(grants->mm);
		if (++done % UNPIN_BATCH == 0)
			cond_resched();
	}
}

static void release(struct grants *grants)
{
	unpin_range(grants, 0, ULONG_MAX);
	xa_destroy(&grants->pages);
	file_pages_put(grants->files);
	if (grants->mm)
		mmdrop(grants->mm);
	kfree(grants);
}

void grants_close(struct lwk_process *process)
{
	mutex_lock(&process->grants_mutex);
	process->grants_closed = true;
	mutex_unlock(&process->grants_mutex);
}

void grants_destroy(struct lwk_process *process)
{
	struct grants *grants = process->grants;

	process->grants = NULL;
	if (!grants)
		return;
	if (process_has_let_go(process)) {
		release(grants);
		return;
	}
	if (grants->files)
		file_pages_close(grants->files);
	list_add(&grants->link, &process->instance->stranded);
}

int grants_renew(struct lwk_process *process)
{
	struct grants *grants = alloc();

	if (!grants)
		return -ENOMEM;
	grants_close(process);
	grants_destroy(process);
	mutex_lock(&process->grants_mutex);
	process->grants = grants;
	WRITE_ONCE(process->grants_generation, process->grants_generation + 1);
	process->grants_closed = false;
	mutex_unlock(&process->grants_mutex);
	return 0;
}

void grants_release_stranded(struct instance *instance)
{
	struct grants *grants, *next;

	list_for_each_entry_safe(grants, next, &instance->stranded, link) {
		list_del(&grants->link);
		release(grants);
	}
}

/* Takes the request of a thread that has its slot: 0, or -EINVAL: none. With rwsem held. */
static int take_request(struct lwk_thread *thread, struct grant_request *request)
{
	struct lwk_grant *grant = &thread->process->instance->grants[thread->slot];

	/* Read first: if another program comes in between, the request is void. */
	request->generation = READ_ONCE(thread->process->grants_generation);
	if (cmpxchg(&grant->state, LWK_GRANT_ASKED, LWK_GRANT_BUSY) != LWK_GRANT_ASKED)
		return -EINVAL;
	request->order = READ_ONCE(grant->order);
	request->access = READ_ONCE(grant->access);
	request->start = READ_ONCE(grant->start);
	request->count = READ_ONCE(grant->count);
	return 0;
}

static bool is_sane(const struct grant_request *request)
{
	return PAGE_ALIGNED(request->start) && request->start >= LWK_USER_START &&
	       request->start < LWK_USER_END && request->count &&
	       request->count <= (LWK_USER_END - request->start) >> PAGE_SHIFT;
}

/* The mapping of a file whose pages the LWK may have, or NULL. With mmap_lock. */
static struct vm_area_struct *find_shared(u64 start)
{
	struct vm_area_struct *vma = find_vma(current->mm, start);

	return vma && vma->vm_start <= start && vma->vm_flags & VM_MAYSHARE &&
			       !(vma->vm_flags & (VM_IO | VM_PFNMAP)) && vma->vm_file &&
			       S_ISREG(file_inode(vma->vm_file)->i_mode)
		       ? vma
		       : NULL;
}

static bool is_on_disk(const struct vm_area_struct *vma)
{
	return file_inode(vma->vm_file)->i_sb->s_magic != TMPFS_MAGIC;
}

/*
 * Returns how many pages to pin from 'start' on: one, and those behind it that the file has
 * already.
 */
static unsigned long present_pages(const struct vm_area_struct *vma, u64 start, unsigned long most)
{
	loff_t at = ((loff_t)vma->vm_pgoff << PAGE_SHIFT) + (start - vma->vm_start);
	unsigned long n = 1;

	most = min(most, (vma->vm_end - (unsigned long)start) >> PAGE_SHIFT);
	while (n < most && filemap_range_has_page(vma->vm_file->f_mapping, at + n * PAGE_SIZE,
						  at + (n + 1) * PAGE_SIZE - 1))
		n++;
	return n;
}

/* With mmap_lock. -ENOLCK: request->files is needed. */
static long pin_of(struct vm_area_struct *vma, struct grant_request *request, struct page **pages)
{
	unsigned long most = min_t(u64, request->count, LWK_GRANT_PAGES), n;

	request->on_disk = is_on_disk(vma);
	if (request->on_disk && !request->files)
		return -ENOLCK;
	request->writable =
		request->access >= (request->on_disk ? LWK_GRANT_WRITE : LWK_GRANT_MAY_WRITE);
	/* Pages that nobody writes to need not go to the disk. */
	if (request->on_disk && request->writable)
		n = min(file_pages_ahead(request->files, request->start >> PAGE_SHIFT, most),
			(vma->vm_end - (unsigned long)request->start) >> PAGE_SHIFT);
	else
		n = present_pages(vma, request->start, most);
	return compat_pin_user_pages(request->start, n,
				     (request->on_disk ? 0 : FOLL_LONGTERM) |
					     (request->writable ? FOLL_WRITE : 0),
				     pages);
}

/* Returns the number of pages pinned, or a negative error. */
static long pin_once(struct grant_request *request, struct page **pages)
{
	struct vm_area_struct *vma;
	long n;

	if (request->files && !file_pages_begin(request->files, &request->begun))
		return -EFAULT;
	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	vma = find_shared(request->start);
	n = vma ? pin_of(vma, request, pages) : -EFAULT;
	mmap_read_unlock(current->mm);
	return n;
}

/* Returns the process's file_pages with a reference, or NULL. */
static struct file_pages *files_of(struct lwk_process *process)
{
	struct file_pages *files = NULL, *new = NULL;

	for (;;) {
		mutex_lock(&process->grants_mutex);
		/* The thread that has closed the grants may be freeing them. */
		if (!process->grants_closed && !process->grants->files) {
			process->grants->files = new;
			new = NULL;
		}
		if (!process->grants_closed && process->grants->files)
			files = file_pages_get(process->grants->files);
		mutex_unlock(&process->grants_mutex);
		if (files || new)
			break;
		/* Linux's locks of memory come before grants_mutex. */
		new = file_pages_create(process);
		if (!new)
			break;
	}
	file_pages_put(new);
	return files;
}

static long pin(struct lwk_process *process, struct grant_request *request, struct page **pages)
{
	unsigned int tries = 0;
	long n;

	for (;;) {
		n = pin_once(request, pages);
		if (n == -ENOLCK) {
			request->files = files_of(process);
			if (!request->files)
				return -ENOMEM;
			continue;
		}
		if (n && n != -ENOMEM && n != -EAGAIN)
			return n;
		if (++tries == PIN_TRIES || fatal_signal_pending(current))
			return n == -ENOMEM ? n : -EFAULT;
		schedule_timeout_killable(1);
	}
}

static u64 most_pins(const struct instance *instance)
{
	u64 bytes = 0;
	unsigned int i;

	for (i = 0; i < instance->n_mem; i++)
		bytes += instance->mem[i].size;
	return max_t(u64, bytes, rlimit(RLIMIT_MEMLOCK)) >> PAGE_SHIFT;
}

/* Counts one more page for the caller: 0, -EFAULT: it has another memory map now, -ENOMEM. */
static int count_pin(struct grants *grants, u64 most)
{
	if (!grants->mm) {
		mmgrab(current->mm);
		grants->mm = current->mm;
	}
	if (grants->mm != current->mm)
		return -EFAULT;
	if (compat_pinned_inc(grants->mm) <= most || capable(CAP_IPC_LOCK))
		return 0;
	compat_pinned_dec(grants->mm);
	return -ENOMEM;
}

/*
 * Remembers a pinned page: 0, -EFAULT, -ENOMEM. A page that the LWK has at that address already
 * must be the same, as the LWK may be about to map it.
 */
static int remember(struct grants *grants, unsigned long index, struct page *page, bool writable,
		    u64 most)
{
	void *old = xa_load(&grants->pages, index), *new = xa_tag_pointer(page, writable);
	int error;

	if (old && xa_untag_pointer(old) != page)
		return -EFAULT;
	if (old && xa_pointer_tag(old))
		new = old;
	error = old ? 0 : count_pin(grants, most);
	if (error)
		return error;
	error = xa_err(xa_store(&grants->pages, index, new, GFP_KERNEL_ACCOUNT));
	if (error && !old)
		compat_pinned_dec(grants->mm);
	/* One pin per page is enough. */
	if (old && !error)
		unpin_user_page(page);
	return error;
}

/* Returns how many pages the LWK may have, or a negative error. */
static long remember_all(struct lwk_process *process, const struct grant_request *request,
			 struct page **pages, long n)
{
	u64 most = most_pins(process->instance);
	long done = 0;
	int error = 0;

	for (; done < n; done++) {
		error = remember(process->grants, (request->start >> PAGE_SHIFT) + done,
				 pages[done], request->writable, most);
		if (error)
			break;
	}
	return done ? done : error;
}

struct reply {
	struct lwk_grant *grant;
	struct page **pages;
	bool writable;
};

static void publish(void *argument, long n)
{
	const struct reply *reply = argument;
	long i;

	for (i = 0; i < n; i++)
		WRITE_ONCE(reply->grant->pages[i],
			   page_to_phys(reply->pages[i]) |
				   (reply->writable ? LWK_GRANT_WRITABLE : 0));
	WRITE_ONCE(reply->grant->result, n);
	smp_store_release(&reply->grant->state, LWK_GRANT_DONE);
}

static void unpin_for(struct lwk_process *process, const struct grant_request *request)
{
	unsigned long first = request->start >> PAGE_SHIFT, last = first + request->count - 1;

	unpin_range(process->grants, first, last);
	if (process->grants->files)
		file_pages_unpin(process->grants->files, first, last);
}

/*
 * Grants the pages to the slot that waits for this request. Returns how many pages the LWK has, 0
 * or a negative error; -EAGAIN: they must be pinned again. With rwsem and grants_mutex held.
 */
static long carry_out(struct lwk_process *process, struct lwk_grant *grant,
		      const struct grant_request *request, struct page **pages, long n)
{
	struct reply reply = { grant, pages, request->writable };

	if (!n && request->order == LWK_GRANT_UNPIN)
		unpin_for(process, request);
	else if (n > 0 && request->on_disk)
		n = file_pages_add(request->files, request->begun, request->start >> PAGE_SHIFT,
				   pages, n, publish, &reply);
	else if (n > 0)
		n = remember_all(process, request, pages, n);
	if (n != -EAGAIN && !(n > 0 && request->on_disk))
		publish(&reply, n);
	return n;
}

static long request_error(const struct grant_request *request)
{
	if (!is_sane(request))
		return -EINVAL;
	return request->order == LWK_GRANT_PIN || request->order == LWK_GRANT_UNPIN ? 0 : -ENOSYS;
}

/* True when the pages must be pinned again. */
static bool answer(struct lwk_thread *thread, const struct grant_request *request,
		   struct page **pages, long n)
{
	struct lwk_process *process = thread->process;
	long taken = 0, i;

	down_read(&process->instance->rwsem);
	mutex_lock(&process->grants_mutex);
	if (!process->grants_closed && process->grants_generation == request->generation &&
	    has_slot(thread))
		taken = carry_out(process, &process->instance->grants[thread->slot], request, pages,
				  n);
	mutex_unlock(&process->grants_mutex);
	up_read(&process->instance->rwsem);
	for (i = max(taken, 0L); i < n; i++)
		unpin_user_page(pages[i]);
	return taken == -EAGAIN;
}

long grants_serve(struct lwk_process *process)
{
	struct lwk_thread *thread = thread_of_caller(process);
	struct instance *instance = process->instance;
	struct page *pages[LWK_GRANT_PAGES];
	struct grant_request request = { 0 };
	long n;

	if (task_tgid(current) != smp_load_acquire(&process->proxy))
		return -EPERM;
	down_read(&instance->rwsem);
	n = READ_ONCE(thread->slot) >= 0 && has_slot(thread) ? take_request(thread, &request)
							     : -EIO;
	up_read(&instance->rwsem);
	if (n)
		return n;
	do {
		n = request_error(&request);
		if (!n && request.order == LWK_GRANT_PIN)
			n = fatal_signal_pending(current) ? -EINTR : pin(process, &request, pages);
	} while (answer(thread, &request, pages, n));
	file_pages_put(request.files);
	return 0;
}
