// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static void __used try(struct vm_area_struct *vma)
{
	zap_special_vma_range(vma, vma->vm_start, PAGE_SIZE);
}
