// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/gfp.h>

static unsigned long __used try(struct page **pages)
{
	return alloc_pages_bulk_node(GFP_KERNEL, 0, 1, pages);
}
