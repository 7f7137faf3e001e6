// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LWKPART_MOVE: moves pages of a process to a NUMA node, as move_pages(2) does, in less time.
 *
 * The functions of move_pages(2) are not exported to modules. Those by which drivers move memory
 * between a device and the machine are (Documentation/mm/hmm.rst), and they need no device. They
 * move neighbouring pages together, and unmap a page through the table that it was found in
 * instead of searching for its mappings. Pages of special kinds are left to move_pages(2).
 */
#include "pages/move.h"

#include <linux/highmem.h>
#include <linux/ksm.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/compat.h"
#include "pages/walk.h"

#ifdef CONFIG_DEVICE_MIGRATION

/* At most so many pages are moved together. A program that uses one of them waits. */
#define RUN 64U
/* After so many pages mmap_lock is released, for others that map memory. */
#define CHUNK 512U
#define MAX_PAGES 65536U

struct mover {
	int node;
	struct mm_struct *mm;
	u64 *addresses;
	s32 *status;
	u32 count;
	unsigned long from[RUN], to[RUN];
	struct page *fresh[RUN];
	/* The table entry of the last address; valid while mmap_lock is held. */
	pmd_t *pmd;
	unsigned long pmd_address;
};

/* 0 when the page can probably be moved (migrate_vma_setup() decides), else its status. */
static s32 look_at(struct mover *mover, unsigned long address)
{
	unsigned long next;
	struct page *page;
	pud_t *giant;
	pmd_t pmd;
	pte_t pte;

	if (!mover->pmd || mover->pmd_address != (address & PMD_MASK)) {
		mover->pmd = walk_find_pmd(mover->mm, address, address + PAGE_SIZE, &next, &giant);
		mover->pmd_address = address & PMD_MASK;
	}
	if (!mover->pmd)
		return -EAGAIN;
	/* Newer kernels free the tables of a file's mapping by RCU, without mmap_lock. */
	rcu_read_lock();
	pmd = READ_ONCE(*mover->pmd);
	/* The functions for devices would split huge pages. */
	if (pmd_none(pmd) || !pmd_present(pmd) || pmd_leaf(pmd) || pmd_bad(pmd)) {
		rcu_read_unlock();
		return -EAGAIN;
	}
	pte = READ_ONCE(*pte_offset_kernel(&pmd, address));
	rcu_read_unlock();
	if (!pte_present(pte) || pte_special(pte) || !pfn_valid(pte_pfn(pte)))
		return -EAGAIN;
	page = pte_page(pte);
	/*
	 * A page that is not in an LRU list yet would make the kernel drain the lists of all CPUs.
	 */
	if (PageReserved(page) || PageCompound(page) || !PageLRU(page) || !PageAnon(page) ||
	    folio_test_ksm(page_folio(page)) || folio_test_mlocked(page_folio(page)) ||
	    !folio_mapped(page_folio(page)) || compat_is_mapped_by_several(page) ||
	    page_to_nid(page) == mover->node)
		return -EAGAIN;
	return 0;
}

/* Fills fresh[] with up to n pages of the target node. */
static void allocate(struct mover *mover, u32 n)
{
	u32 got = alloc_pages_bulk_node(GFP_HIGHUSER_MOVABLE | __GFP_THISNODE | __GFP_NOWARN |
						__GFP_NORETRY,
					mover->node, n, mover->fresh);

	memset(mover->fresh + got, 0, sizeof(*mover->fresh) * (RUN - got));
}

/* Copies one page that is locked for the move. */
static void copy_one(struct mover *mover, u32 i)
{
	struct page *from = migrate_pfn_to_page(mover->from[i]), *to = mover->fresh[i];

	if (!from || !(mover->from[i] & MIGRATE_PFN_MIGRATE) || !to)
		return;
	mover->fresh[i] = NULL;
	lock_page(to);
	copy_highpage(to, from);
	mover->to[i] = migrate_pfn(page_to_pfn(to));
}

static void free_unused(struct mover *mover, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (mover->fresh[i])
			__free_page(mover->fresh[i]);
	memset(mover->fresh, 0, sizeof(mover->fresh));
}

/* Moves n neighbouring pages, beginning with addresses[first]. */
static void move_run(struct mover *mover, struct vm_area_struct *vma, u32 first, u32 n)
{
	struct migrate_vma run = {
		.vma = vma,
		.src = mover->from,
		.dst = mover->to,
		.start = mover->addresses[first],
		.end = mover->addresses[first] + n * PAGE_SIZE,
		.flags = MIGRATE_VMA_SELECT_SYSTEM,
	};
	u32 i;

	memset(mover->from, 0, sizeof(mover->from));
	memset(mover->to, 0, sizeof(mover->to));
	/* Memory is allocated before pages are locked. */
	allocate(mover, n);
	if (migrate_vma_setup(&run)) {
		free_unused(mover, n);
		return;
	}
	for (i = 0; i < n; i++)
		copy_one(mover, i);
	migrate_vma_pages(&run);
	for (i = 0; i < n; i++)
		if (mover->to[i] && (mover->from[i] & MIGRATE_PFN_MIGRATE))
			mover->status[first + i] = mover->node;
	migrate_vma_finalize(&run);
	free_unused(mover, n);
}

/* Returns how many pages from addresses[first] on are neighbours in one mapping and can move. */
static u32 find_run(struct mover *mover, struct vm_area_struct *vma, u32 first, u32 end)
{
	u64 start = mover->addresses[first];
	u32 n = 0;

	if (!vma || vma->vm_start > start || !vma_is_anonymous(vma) ||
	    !(vma->vm_flags & VM_ACCESS_FLAGS) || (vma->vm_flags & (VM_SPECIAL | VM_LOCKED)))
		return 0;
	while (n < RUN && first + n < end && mover->addresses[first + n] == start + n * PAGE_SIZE &&
	       start + n * PAGE_SIZE < vma->vm_end && !look_at(mover, mover->addresses[first + n]))
		n++;
	return n;
}

static int move_chunk(struct mover *mover, u32 first, u32 end)
{
	int error = walk_lock_memory(mover->mm);

	if (error)
		return error;
	mover->pmd = NULL;
	while (first < end) {
		struct vm_area_struct *vma = find_vma(mover->mm, mover->addresses[first]);
		u32 n = find_run(mover, vma, first, end);

		if (n)
			move_run(mover, vma, first, n);
		first += n ? n : 1;
		cond_resched();
	}
	mmap_read_unlock(mover->mm);
	return 0;
}

static int move_all(struct mover *mover)
{
	u32 first, end;
	int error = 0;

	for (first = 0; !error && first < mover->count; first = end) {
		end = min(first + CHUNK, mover->count);
		error = move_chunk(mover, first, end);
		if (fatal_signal_pending(current))
			error = -EINTR;
		cond_resched();
	}
	return error;
}

static int copy_in(struct mover *mover, const struct lwkpart_move *request)
{
	u32 i;

	if (copy_from_user(mover->addresses, (void __user *)request->addresses,
			   mover->count * sizeof(*mover->addresses)))
		return -EFAULT;
	for (i = 0; i < mover->count; i++) {
		mover->status[i] = -EAGAIN;
		if (!PAGE_ALIGNED(mover->addresses[i]) || mover->addresses[i] >= TASK_SIZE_MAX)
			return -EINVAL;
	}
	return 0;
}

int move_pages_of(struct lwkpart_move *request)
{
	struct mover *mover;
	int error = -ENOMEM;

	if (request->reserved || request->pid <= 0 || !request->count ||
	    request->count > MAX_PAGES || request->node >= MAX_NUMNODES ||
	    !node_state(request->node, N_MEMORY))
		return -EINVAL;
	mover = kzalloc(sizeof(*mover), GFP_KERNEL);
	if (!mover)
		return -ENOMEM;
	mover->node = request->node;
	mover->count = request->count;
	mover->addresses = kvmalloc_array(request->count, sizeof(*mover->addresses), GFP_KERNEL);
	mover->status = kvmalloc_array(request->count, sizeof(*mover->status), GFP_KERNEL);
	if (mover->addresses && mover->status)
		error = copy_in(mover, request);
	if (!error) {
		mover->mm = walk_find_memory(request->pid);
		error = mover->mm ? move_all(mover) : -ESRCH;
	}
	if (mover->mm)
		mmput(mover->mm);
	/* A caller gets the status of what was moved before the rest was given up, too. */
	if ((!error || error == -EINTR || error == -EBUSY) &&
	    copy_to_user((void __user *)request->status, mover->status,
			 mover->count * sizeof(*mover->status)))
		error = -EFAULT;
	kvfree(mover->addresses);
	kvfree(mover->status);
	kfree(mover);
	return error;
}

#else

int move_pages_of(struct lwkpart_move *request)
{
	return -EOPNOTSUPP;
}

#endif
