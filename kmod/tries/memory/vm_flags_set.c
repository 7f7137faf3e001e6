// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static void __used try(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_PFNMAP);
}
