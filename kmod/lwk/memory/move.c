/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/move.h"

#include <linux/errno.h>

#include "lwk/paging/tables.h"
#include "lwk/watch/account.h"

/* True when a large page at base moves as a whole. Its new place must have no table. */
static bool moves_whole(struct space *space, u64 base, u64 from, u64 to, u64 size)
{
	const u64 *target;

	if ((from - to) % LARGE_SIZE || base < from || base + LARGE_SIZE > from + size)
		return false;
	target = entry_at(space, to + (base - from), 2, false);
	return !target || !*target;
}

int split_for_move(struct space *space, u64 from, u64 to, u64 size)
{
	for (u64 base = ALIGN_DOWN(from, LARGE_SIZE); base < from + size;
	     base = next_part(space, base))
		if (!moves_whole(space, base, from, to, size) && large_split(space, base))
			return -ENOMEM;
	return split_edges(space, from, from + size);
}

int move_pages(struct space *space, u64 from, u64 to, u64 size)
{
	for (u64 done = 0; done < size;) {
		u64 *source = page_entry(space, from + done), *target;
		bool large = source && *source & PTE_PS;

		if (source && is_page(*source)) {
			target = entry_at(space, to + done, large ? 2 : 1, true);
			if (!target)
				return -ENOMEM;
			*target = *source;
			*source = 0;
		}
		still_alive();
		/* The program has reserved most of it, perhaps, and that in terabytes. */
		done = source && !large ? done + PAGE_SIZE : next_part(space, from + done) - from;
	}
	return 0;
}
