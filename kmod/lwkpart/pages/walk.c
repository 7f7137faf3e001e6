// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the memory of a process, and entries of its page tables.
 */
#include "pages/walk.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "compat/compat.h"

#define LOCK_MS 100

pmd_t *walk_find_pmd(struct mm_struct *mm, unsigned long address, unsigned long end,
		     unsigned long *next, pud_t **giant)
{
	pgd_t *pgd = pgd_offset(mm, address);
	pud_t *pud, entry;
	p4d_t *p4d;

	*giant = NULL;
	*next = pgd_addr_end(address, end);
	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, address);
	*next = p4d_addr_end(address, end);
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return NULL;
	pud = pud_offset(p4d, address);
	*next = pud_addr_end(address, end);
	/* Linux takes a table of hugetlb out at any time, so all looks are at one value. */
	entry = READ_ONCE(*pud);
	if (pud_none(entry) || !pud_present(entry))
		return NULL;
	if (pud_leaf(entry)) {
		*giant = pud;
		return NULL;
	}
	if (pud_bad(entry))
		return NULL;
	*next = pmd_addr_end(address, end);
	return pmd_offset(&entry, address);
}

struct mm_struct *walk_find_memory(s32 number)
{
	struct task_struct *task;
	struct mm_struct *mm;
	struct pid *pid;

	pid = find_get_pid(number);
	task = get_pid_task(pid, PIDTYPE_TGID);
	put_pid(pid);
	if (!task)
		return NULL;
	mm = get_task_mm(task);
	put_task_struct(task);
	return mm;
}

int walk_lock_memory(struct mm_struct *mm)
{
	unsigned long until = jiffies + msecs_to_jiffies(LOCK_MS);

	while (!mmap_read_trylock(mm)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, until))
			return -EBUSY;
		usleep_range(1000, 2000);
	}
	return 0;
}
