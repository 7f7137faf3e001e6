// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm_types.h>

static void __used try(struct mm_struct *mm)
{
	percpu_counter_add(&mm->rss_stat[MM_SHMEMPAGES], 1);
}
