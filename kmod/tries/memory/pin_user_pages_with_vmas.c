// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static void __used try(struct page **pages)
{
	pin_user_pages(0, 1, FOLL_WRITE, pages, NULL);
}
