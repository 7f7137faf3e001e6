// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes memory from Linux and gives it back, in two ways:
 *   BLOCK   User space has put whole memory blocks off-line. This file checks them, enters them
 *           into the ledger, and keeps them off-line.
 *   CONTIG  Linux empties a run of memory and allocates it to the module.
 * Both kinds stay in Linux's direct map.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "lending/memory.h"

#include <linux/io.h>
#include <linux/kasan.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>

#include "compat/compat.h"
#include "lending/ledger.h"

#define ALIGN_PFNS (LWKPART_MEM_ALIGN >> PAGE_SHIFT)
/* The first search is for runs at multiples of this, or of their size if that is smaller. */
#define COARSE_PFNS (SZ_128M >> PAGE_SHIFT)

/*
 * The range that Linux is putting on-line at this moment, after memory_changes() let it pass.
 * Linux marks its pages as on-line only later. There is one range at most, because Linux holds
 * mem_hotplug_lock meanwhile.
 */
static DEFINE_SPINLOCK(coming_lock);
static u64 coming_start, coming_end;

/* Memory hotplug callback: keeps lent memory off-line. */
static int memory_changes(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct memory_notify *change = data;
	u64 start = PFN_PHYS(change->start_pfn);
	u64 size = (u64)change->nr_pages << PAGE_SHIFT;
	struct lent_to to;

	switch (event) {
	case MEM_GOING_ONLINE:
		spin_lock(&coming_lock);
		if (!ledger_has_memory(start, size, &to)) {
			coming_start = start;
			coming_end = start + size;
			spin_unlock(&coming_lock);
			return NOTIFY_OK;
		}
		spin_unlock(&coming_lock);
		if (to.instance == LWKPART_NO_INSTANCE)
			pr_warn_ratelimited(
				"memory %#llx-%#llx stays off-line: it is lent out, though no LWK has it; give it back with LWKPART_RETURN_MEM ('lwkctl status' shows what is lent)\n",
				start, start + size - 1);
		else
			pr_warn_ratelimited(
				"memory %#llx-%#llx stays off-line: it is lent to the LWK of job %u (instance %u); it comes back when that job ends\n",
				start, start + size - 1, to.job_id, to.instance);
		return notifier_from_errno(-EBUSY);
	case MEM_ONLINE:
	case MEM_CANCEL_ONLINE:
		spin_lock(&coming_lock);
		coming_start = coming_end = 0;
		spin_unlock(&coming_lock);
		return NOTIFY_OK;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = memory_changes };

/*
 * Checks that [start, start+size) is memory of that NUMA node, off-line and sound: 0, -EINVAL,
 * -EBUSY, -EINTR. Every page is checked, because the use of a page that Linux found broken
 * (PG_hwpoison) would end in a machine check, which stops the whole machine.
 */
static int check_block(u64 start, u64 size, int node)
{
	unsigned long pfn, end = PHYS_PFN(start + size);

	for (pfn = PHYS_PFN(start); pfn < end; pfn++) {
		struct page *page;

		if (pfn % PAGES_PER_SECTION == 0) {
			cond_resched();
			if (fatal_signal_pending(current))
				return -EINTR;
			/* All pages of a section exist and are on-line, or none. */
			if (pfn_to_online_page(pfn))
				return -EBUSY;
			/* Device memory (pmem, HMM) has pages, too, but is no System RAM. */
			if (!pfn_valid(pfn) || !page_is_ram(pfn) ||
			    memory_add_physaddr_to_nid(PFN_PHYS(pfn)) != node)
				return -EINVAL;
		}
		page = pfn_to_page(pfn);
		/*
		 * A kernel with CONFIG_DEBUG_VM fills the structures of off-line pages with ones.
		 */
		if (!PagePoisoned(page) && PageHWPoison(page)) {
			pr_warn("memory %#llx-%#llx was to be lent, but its page %#llx is marked as broken; use another block (a block that was never on-line must be put on-line once)\n",
				start, start + size - 1, PFN_PHYS(pfn));
			return -EINVAL;
		}
	}
	return 0;
}

/*
 * KASAN takes the pages of an off-line block for free ones, and would report each use of them.
 * Linux marks them as free again when they go on-line.
 */
static void announce_use(u64 start, u64 size)
{
#ifdef CONFIG_KASAN_GENERIC
	__memset(kasan_mem_to_shadow(phys_to_virt(start)), 0, size >> KASAN_SHADOW_SCALE_SHIFT);
#endif
}

static bool is_coming(u64 start, u64 size)
{
	bool coming;

	spin_lock(&coming_lock);
	coming = start < coming_end && coming_start < start + size;
	spin_unlock(&coming_lock);
	return coming;
}

static int lend_block(const struct lwkpart_mem *request)
{
	u64 start = request->start, size = request->size, block = memory_block_size_bytes();
	struct lent_to to;
	int error;

	if (!IS_ALIGNED(start, block) || !IS_ALIGNED(size, block))
		return -EINVAL;
	if (ledger_has_memory(start, size, &to))
		return -EEXIST;
	/* Once it is in the ledger, no part of it can begin to go on-line during the check. */
	error = ledger_add_range(start, size, request->node, LWKPART_MEM_BLOCK);
	if (error)
		return error;
	error = is_coming(start, size) ? -EBUSY : check_block(start, size, request->node);
	if (error)
		ledger_remove_range(ledger_find_range(start, size));
	else
		announce_use(start, size);
	return error;
}

/*
 * The first page of [start, end) that can never be emptied, or end. This look saves most of the
 * costly tries, in which Linux moves half of a range before it finds such a page.
 */
static unsigned long first_obstacle(unsigned long start, unsigned long end, int node)
{
	struct zone *zone = NULL;
	unsigned long pfn;

	for (pfn = start; pfn < end; pfn++) {
		struct page *page = pfn_to_online_page(pfn);

		if (!page || page_to_nid(page) != node)
			return pfn;
		/* alloc_contig_range() needs a range within one zone. */
		if (!zone)
			zone = page_zone(page);
		if (page_zone(page) != zone || PageReserved(page) || PageSlab(page) ||
		    PageTable(page) || PageHWPoison(page))
			return pfn;
	}
	return end;
}

/*
 * Tries runs of 'count' pages at multiples of 'step'. Returns the first page's number or an error.
 * After a failed try the search goes on an eighth of the run later: some page could not be moved,
 * Linux does not tell which one, and each try moves all pages before it once more.
 */
static long find_run(int node, unsigned long count, unsigned long step)
{
	unsigned long end = node_end_pfn(node), pfn = ALIGN(node_start_pfn(node), step);

	while (pfn < end && count <= end - pfn) {
		unsigned long obstacle = first_obstacle(pfn, pfn + count, node);
		int error;

		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (obstacle < pfn + count) {
			pfn = ALIGN(obstacle + 1, step);
			continue;
		}
		error = alloc_contig_range(pfn, pfn + count, MIGRATE_MOVABLE,
					   GFP_KERNEL | __GFP_NOWARN);
		if (!error)
			return pfn;
		if (error == -EINTR)
			return error;
		pfn += max(step, ALIGN(count / 8, step));
	}
	return -ENOMEM;
}

static int lend_contig(struct lwkpart_mem *request)
{
	unsigned long count = PHYS_PFN(request->size);
	unsigned long coarse = min_t(unsigned long, rounddown_pow_of_two(count), COARSE_PFNS);
	long pfn;
	int error;

	pfn = find_run(request->node, count, coarse);
	if (pfn == -ENOMEM && coarse > ALIGN_PFNS)
		pfn = find_run(request->node, count, ALIGN_PFNS);
	if (pfn < 0)
		return pfn;
	error = ledger_add_range(PFN_PHYS(pfn), request->size, request->node, LWKPART_MEM_CONTIG);
	if (error) {
		free_contig_range(pfn, count);
		return error;
	}
	request->start = PFN_PHYS(pfn);
	return 0;
}

int memory_lend(struct lwkpart_mem *request)
{
	if (!request->size || !IS_ALIGNED(request->size, LWKPART_MEM_ALIGN) ||
	    request->node >= MAX_NUMNODES || !node_online(request->node))
		return -EINVAL;
	switch (request->kind) {
	case LWKPART_MEM_BLOCK:
		if (request->start + request->size < request->start ||
		    request->start + request->size > BIT_ULL(boot_cpu_data.x86_phys_bits))
			return -EINVAL;
		return lend_block(request);
	case LWKPART_MEM_CONTIG:
		/* A size beyond the node's would overflow page numbers. */
		if (PHYS_PFN(request->size) > node_spanned_pages(request->node))
			return -ENOMEM;
		return lend_contig(request);
	}
	return -EINVAL;
}

int memory_return(const struct lwkpart_mem *request)
{
	struct lent_range *lent = ledger_find_range(request->start, request->size);

	if (!lent)
		return -ENOENT;
	if (is_assigned(&lent->to))
		return -EBUSY;
	/* A BLOCK range only leaves the ledger; user space puts it on-line again. */
	if (lent->kind == LWKPART_MEM_CONTIG)
		free_contig_range(PHYS_PFN(lent->start), PHYS_PFN(lent->size));
	ledger_remove_range(lent);
	return 0;
}

int memory_init(void)
{
	return register_memory_notifier(&notifier);
}

void memory_exit(void)
{
	unregister_memory_notifier(&notifier);
}
