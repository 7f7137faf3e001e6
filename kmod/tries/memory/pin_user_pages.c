// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static void __used try(struct page *page)
{
	unpin_user_page(page);
}
