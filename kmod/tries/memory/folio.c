// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static bool __used try(struct page *page)
{
	return folio_test_ksm(page_folio(page));
}
