// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mm.h>

static bool __used try(struct folio *folio)
{
	return folio_likely_mapped_shared(folio);
}
