// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mmu_notifier.h>

static unsigned long __used try(struct mmu_interval_notifier *notifier)
{
	return mmu_interval_read_begin(notifier);
}
