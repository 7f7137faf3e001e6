// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LWKPART_SCAN: lists the pages that a process has on given NUMA nodes. The Accessed bits of its
 * page tables tell which pages were used; the scan can clear them.
 *
 * Linux's exported walker stops with a warning at a huge page, so the upper levels are walked
 * here, and the walker gets tables of small pages only.
 */
#include "pages/scan.h"

#include <linux/hugetlb_inline.h>
#include <linux/mm.h>
#include <linux/page_idle.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/uaccess.h>

#include "compat/compat.h"
#include "pages/walk.h"
#include "tricks/tricks.h"

/*
 * One call looks at no more than so many entries, because it holds mmap_lock, for which programs
 * wait that map memory.
 */
#define MAX_ENTRIES 65536U

struct scan {
	const struct lwkpart_scan *request;
	u64 *pages;
	u32 capacity, count;
	u32 entries; /* that were looked at */
	bool clear;
	bool cleared;
};

static bool is_full(const struct scan *scan)
{
	return scan->count == scan->capacity || scan->entries >= MAX_ENTRIES;
}

/*
 * Reclaim treats a page as unused when its Accessed bit is clear. So the bit's value is kept in
 * the page, as Linux does when a mapping goes away (zap_pte_range()).
 */
static void keep_for_reclaim(struct page *page)
{
#ifdef CONFIG_PAGE_IDLE_FLAG
	folio_set_young(page_folio(page));
#else
	mark_page_accessed(page);
#endif
}

static u64 page_flags(struct page *page)
{
	u64 flags = 0;

	if (compat_is_mapped_by_several(page))
		flags |= LWKPART_PAGE_SHARED;
	if (folio_test_ksm(page_folio(page)))
		flags |= LWKPART_PAGE_KSM;
	else if (!PageAnon(page))
		flags |= LWKPART_PAGE_FILE;
	if (folio_test_mlocked(page_folio(page)))
		flags |= LWKPART_PAGE_MLOCKED;
	return flags;
}

static bool is_wanted(const struct lwkpart_scan *request, struct page *page)
{
	u64 physical = PFN_PHYS(page_to_pfn(page));
	int node = page_to_nid(page);

	if (node >= LWKPART_SCAN_NODES || !(request->nodes[node / 64] & BIT_ULL(node % 64)))
		return false;
	return !request->physical_end ||
	       (physical >= request->physical_start && physical < request->physical_end);
}

/* Lists one page, if it is wanted. 'entry' is a present entry of a page table of any level. */
static void look_at(struct scan *scan, unsigned long *entry, struct page *page,
		    unsigned long address, u64 flags)
{
	if (PageReserved(page) || !is_wanted(scan->request, page))
		return;
	/* The huge zero page has no mappings counted; like the small one, it is not listed. */
	if (!folio_mapped(page_folio(page)))
		return;
	flags |= page_flags(page);
	if (!(*entry & _PAGE_PRESENT))
		flags |= LWKPART_PAGE_HINTED;
	if (scan->clear ? test_and_clear_bit(_PAGE_BIT_ACCESSED, entry)
			: test_bit(_PAGE_BIT_ACCESSED, entry)) {
		flags |= LWKPART_PAGE_REFERENCED;
		if (scan->clear) {
			scan->cleared = true;
			if (!(flags & LWKPART_PAGE_HUGETLB))
				keep_for_reclaim(page);
		}
	}
	scan->pages[scan->count++] = address | flags;
}

/* Callback of apply_to_page_range(), for each entry; table locked. */
static int COMPAT_PTE_FN(look_at_pte, pte, address, data)
{
	struct scan *scan = data;

	if (pte_present(*pte) && !pte_special(*pte) && pfn_valid(pte_pfn(*pte)))
		look_at(scan, (unsigned long *)pte, pte_page(*pte), address, 0);
	return 0;
}

static void look_at_huge_pmd(struct scan *scan, struct mm_struct *mm, pmd_t *pmd,
			     unsigned long address, u64 flags)
{
	spinlock_t *lock = pmd_lock(mm, pmd);

	/* The huge page may have been split since the caller looked. */
	if (pmd_present(*pmd) && (pmd_trans_huge(*pmd) || (flags & LWKPART_PAGE_HUGETLB)) &&
	    !is_zone_device_page(pmd_page(*pmd)))
		look_at(scan, (unsigned long *)pmd, pmd_page(*pmd), address & PMD_MASK, flags);
	spin_unlock(lock);
}

/*
 * True when Linux may free the mapping's tables at any time, and not by RCU: processes that map the same
 * aligned GB of hugetlb share a table, which mmap_lock of one of them does not keep.
 */
static bool tables_may_go(const struct vm_area_struct *vma)
{
	return !IS_ENABLED(CONFIG_MMU_GATHER_RCU_TABLE_FREE) && vma->vm_flags & VM_MAYSHARE &&
	       ALIGN(vma->vm_start, PUD_SIZE) + PUD_SIZE <= vma->vm_end;
}

/* Scans one mapping of hugetlb until 'end' or until the list is full. Returns where it stopped. */
static unsigned long scan_hugetlb(struct scan *scan, struct vm_area_struct *vma,
				  unsigned long start, unsigned long end)
{
	u64 flags = LWKPART_PAGE_HUGETLB | LWKPART_PAGE_HUGE;
	struct mm_struct *mm = vma->vm_mm;
	unsigned long address, next;
	pud_t *giant;
	pmd_t *pmd;

	if (tables_may_go(vma))
		return end;
	for (address = start; address < end && !is_full(scan); address = next) {
		/* Another process's end may free a table that this one shares with it. */
		rcu_read_lock();
		pmd = walk_find_pmd(mm, address, end, &next, &giant);
		scan->entries++;
		/* Only hugetlb has pages of 1 GB that can move; page_table_lock protects them. */
		if (giant) {
			spin_lock(&mm->page_table_lock);
			if (pud_present(*giant) && pud_leaf(*giant))
				look_at(scan, (unsigned long *)giant, pud_page(*giant),
					address & PUD_MASK, flags | LWKPART_PAGE_GIANT);
			spin_unlock(&mm->page_table_lock);
		}
		if (pmd)
			look_at_huge_pmd(scan, mm, pmd, address, flags);
		rcu_read_unlock();
	}
	return min(address, end);
}

/* Scans one mapping of other memory in the same way. */
static unsigned long scan_mapping(struct scan *scan, struct vm_area_struct *vma,
				  unsigned long start, unsigned long end)
{
	struct mm_struct *mm = vma->vm_mm;
	unsigned long address, next, room;
	pud_t *giant;
	pmd_t *pmd;

	for (address = start; address < end && !is_full(scan); address = next) {
		pmd = walk_find_pmd(mm, address, end, &next, &giant);
		scan->entries++;
		if (!pmd || pmd_none(*pmd) || !pmd_present(*pmd))
			continue;
		/* The list must have room for all pages of this part of the table. */
		room = min(next - address,
			   (unsigned long)(scan->capacity - scan->count) * PAGE_SIZE);
		/*
		 * Linux frees a table that is empty, or all of whose pages a huge page gets, without
		 * more of mmap_lock than this has. Its walker makes a table where there is none, which is
		 * rare, as it was there a moment ago; it warns of a huge page, so the look comes right
		 * before.
		 */
		if (pmd_leaf(READ_ONCE(*pmd)) ||
		    apply_to_page_range(mm, address, room, look_at_pte, scan)) {
			look_at_huge_pmd(scan, mm, pmd, address, LWKPART_PAGE_HUGE);
			continue;
		}
		next = address + room;
		scan->entries += room >> PAGE_SHIFT;
		cond_resched();
	}
	return min(address, end);
}

/* Returns the address where the next scan goes on. */
static unsigned long scan_memory(struct scan *scan, struct mm_struct *mm, unsigned long start,
				 unsigned long end)
{
	struct vm_area_struct *vma;

	while (start < end && !is_full(scan)) {
		vma = find_vma(mm, start);
		if (!vma || vma->vm_start >= end)
			return end;
		start = max(start, vma->vm_start);
		if (vma->vm_flags & (VM_PFNMAP | VM_IO | VM_MIXEDMAP))
			start = vma->vm_end;
		else if (is_vm_hugetlb_page(vma))
			start = scan_hugetlb(scan, vma, start, min(end, vma->vm_end));
		else
			start = scan_mapping(scan, vma, start, min(end, vma->vm_end));
		scan->entries++;
	}
	return min(start, end);
}

static int scan_process(struct lwkpart_scan *request, struct scan *scan)
{
	struct mm_struct *mm = walk_find_memory(request->pid);
	unsigned long at, end;
	int error;

	if (!mm)
		return -ESRCH;
	error = walk_lock_memory(mm);
	if (error) {
		mmput(mm);
		return error;
	}
	end = min_t(u64, request->end, TASK_SIZE_MAX);
	at = scan_memory(scan, mm, min_t(u64, request->start, end), end);
	request->start = at < end ? at : request->end;
	mmap_read_unlock(mm);
	if (scan->cleared)
		trick_flush_tlb(mm);
	mmput(mm);
	return 0;
}

int scan_pages(struct lwkpart_scan *request)
{
	struct scan scan = { .request = request,
			     .capacity = request->capacity,
			     .clear = request->flags & LWKPART_SCAN_CLEAR };
	int error;

	if ((request->flags & ~LWKPART_SCAN_CLEAR) || request->reserved || request->pid <= 0 ||
	    !request->capacity || request->capacity > MAX_ENTRIES ||
	    request->start >= request->end || !PAGE_ALIGNED(request->start) ||
	    !PAGE_ALIGNED(request->end))
		return -EINVAL;
	/* The list is copied out at the end: a page fault may need the mmap_lock that is held. */
	scan.pages = kvmalloc_array(scan.capacity, sizeof(*scan.pages), GFP_KERNEL);
	if (!scan.pages)
		return -ENOMEM;
	error = scan_process(request, &scan);
	request->count = scan.count;
	if (!error && copy_to_user((void __user *)request->pages, scan.pages,
				   scan.count * sizeof(*scan.pages)))
		error = -EFAULT;
	kvfree(scan.pages);
	return error;
}
