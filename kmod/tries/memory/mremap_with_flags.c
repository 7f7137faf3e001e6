// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static int refuse(struct vm_area_struct *vma, unsigned long flags)
{
	return -EINVAL;
}

static const struct vm_operations_struct __used try = { .mremap = refuse };
