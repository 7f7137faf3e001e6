// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static bool __used try(struct mm_struct *mm)
{
	return mmap_read_trylock(mm);
}
