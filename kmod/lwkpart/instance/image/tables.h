/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page tables with which CPUs enter an LWK, and the memory that they are taken from. */
#ifndef LWKPART_TABLES_H
#define LWKPART_TABLES_H

#include <linux/types.h>

#include "abi/shared/boot.h"
#include "abi/shared/layout.h"

/* The reserve while it is being filled from its start; physical addresses. */
struct layout {
	u64 start, next, end;
	u64 page_root;
	unsigned int levels; /* of the page tables: 4 or 5 */
};

static inline u64 lwk_address(u64 physical)
{
	return LWK_DIRECT_MAP + physical;
}

/* Takes 'size' bytes, rounded up to whole pages, and clears them; NULL: the reserve is full. */
void *layout_take(struct layout *layout, u64 size);
/* Maps a page of 4 KB. 0; -ENOMEM: no room for a table; -ENOEXEC: something is mapped there. */
int tables_map_page(struct layout *layout, u64 address, u64 physical, bool writable,
		    bool executable);
/* Maps a range of the partition at its place in the LWK's direct map. 0 or -ENOMEM. */
int tables_map_direct(struct layout *layout, const struct lwk_boot_mem *mem);
/* Maps what the switch to the LWK needs beside its own memory. 0 or -ENOMEM. */
int tables_map_machine(struct layout *layout);

#endif
