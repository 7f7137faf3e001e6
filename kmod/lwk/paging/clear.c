/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program must not find what Linux or another user's job had in the memory. New pages of a
 * program are zero, but on CPUs with Meltdown a program can read all that the page tables map for
 * the kernel, and that is the whole partition. So all CPUs clear it before the first one runs.
 */
#include "lwk/paging/clear.h"

#include "abi/shared/layout.h"
#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/process/slot.h"
#include "lwk/watch/account.h"

/* Bytes that a CPU takes at a time. */
#define PIECE (16UL << 20)

/* Bytes of each range that CPUs have taken so far; may be more than the range has. */
static u64 taken[LWK_MAX_MEM];

bool memory_is_own(void)
{
	return boot_option("memory=own");
}

static void clear_range(u32 index)
{
	/* The kernel uses the start of the first range. */
	u64 used = index == 0 ? kernel_used_bytes() : 0, at;
	u64 start = boot->mem[index].start + used, size = boot->mem[index].size - used;

	while ((at = __atomic_fetch_add(&taken[index], PIECE, __ATOMIC_RELAXED)) < size) {
		memset(phys_to_virt(start + at), 0, MIN(PIECE, size - at));
		still_alive();
	}
}

void memory_clear(void)
{
	u32 node = this_slot()->node;

	if (memory_is_own())
		return;
	for (u32 i = 0; i < boot->n_mem; i++)
		if (boot->mem[i].node == node)
			clear_range(i);
	/* CPUs that have finished their node's memory help with the others'. */
	for (u32 i = 0; i < boot->n_mem; i++)
		clear_range(i);
}
