// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm_types.h>

static void __used try(struct mm_struct *mm)
{
	atomic64_dec(&mm->pinned_vm);
}
