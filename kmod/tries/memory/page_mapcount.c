// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static int __used try(struct page *page)
{
	return page_mapcount(page);
}
